// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0

// Package bftmutex takes locks of a cluster whose servers may lie, by /dev/bftmutex of Linux,
// which bftmutex(4) describes. It needs no C. Copy this file into a folder of its own.
//
//	lock, err := bftmutex.Open()
//	grant, err := lock.Acquire("jobs", bftmutex.Options{Fence: true})
//	...                                  // until it is lost: lock.WaitLost, lock.Status
//	err = lock.Release()                 // ErrLost: the lease was over before
//	lock.Close()
//
// A Lock is one handle: it holds one lock at a time. Calls that wait occupy a thread each.
package bftmutex

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Device is the path that Open opens.
const Device = "/dev/bftmutex"

// ErrLost means that the lease was over before: somebody else may have had the lock since.
var ErrLost = errors.New("bftmutex: the lock was lost")

// ErrBusy means that somebody else has the lock, or that the time to wait is over.
var ErrBusy = errors.New("bftmutex: somebody else has the lock")

// ErrDeadlock means that another holder converts the lock too, and each of the two waits for the
// other: release it, or convert it to less. The other conversion goes on.
var ErrDeadlock = errors.New("bftmutex: another holder converts the lock too")

// ErrClosed means that the handle is closed, perhaps while a call waited, or was made without Open.
var ErrClosed = errors.New("bftmutex: the handle is closed")

// State of a handle, enum bftm_state.
type State uint32

const (
	Idle State = iota
	Pending
	Held
	Lost
	Failed
)

// Mode says what else may be held while a lock is held, enum bftm_lock_mode. Exclusive is the zero
// value; several programs may hold a lock in Shared at once.
type Mode uint32

const (
	Exclusive Mode = iota
	ProtectedWrite
	Shared // protected read
	ConcurrentWrite
	ConcurrentRead
)

const (
	flagTry = 1 << iota
	flagRenew
	flagFence
	flagValue
)

const (
	submitMax = 16384
	valueMax  = 64
	valueSet  = 1
)

// Structures of linux/bftmutex.h; a test compares AbiSizes.
type acquireArg struct {
	size, flags, way, nameLen uint32
	cluster                   [32]byte
	name                      [64]byte
	leaseNs, timeoutNs        uint64
	deadlineNs, token         uint64
	attempts, mode            uint32
}

type statusArg struct {
	size, state, reason     uint32
	error                   int32
	deadlineNs, remainingNs uint64
	token                   uint64
	attempts, mode          uint32
}

type convertArg struct {
	size, flags, mode, reserved  uint32
	timeoutNs, deadlineNs, token uint64
}

type valueArg struct {
	size, op, len, valid uint32
	bytes                [valueMax]byte
}

type submitArg struct {
	size, flags, nameLen, opLen uint32
	cluster                     [32]byte
	name                        [64]byte
	op, response                uint64
	responseRoom, responseLen   uint32
	timeoutNs, id, number       uint64
	status, reserved            uint32
}

func ioc(direction, number, size uintptr) uintptr { return direction<<30 | size<<16 | 0xbf<<8 | number }

var (
	iocAcquire = ioc(3, 1, unsafe.Sizeof(acquireArg{}))
	iocRelease = ioc(0, 3, 0)
	iocStatus  = ioc(3, 4, unsafe.Sizeof(statusArg{}))
	iocSubmit  = ioc(3, 6, unsafe.Sizeof(submitArg{}))
	iocConvert = ioc(3, 8, unsafe.Sizeof(convertArg{}))
	iocValue   = ioc(3, 9, unsafe.Sizeof(valueArg{}))
)

// AbiSizes returns the numbers of the requests, which contain the sizes of their structures.
func AbiSizes() []uintptr {
	return []uintptr{iocAcquire, iocRelease, iocStatus, iocSubmit, iocConvert, iocValue}
}

// Lock is an open file of the device. Any number of goroutines may use it.
type Lock struct {
	mu         sync.Mutex
	fd         int
	isOpen     bool
	calls      int        // under way: the last one of a closed handle closes fd
	releases   uint64     // an acquire or a conversion that one of them ended is over
	begins     sync.Mutex // held while fd is O_NONBLOCK
	converting sync.Mutex
}

// Options of Acquire, Convert and Submit; all zero is fine.
type Options struct {
	Cluster string        // "" for the default one
	Lease   time.Duration // 0 for the cluster's default
	Timeout time.Duration // 0 waits for ever, less than 0 not at all: ErrBusy, or ETIMEDOUT of Submit
	Try     bool          // ask once
	NoRenew bool          // lost at the end of the lease
	Fence   bool          // with a token
	Value   bool          // with the lock's value
	Mode    Mode          // of Acquire
}

// Grant describes an acquired lock. Deadline is on CLOCK_BOOTTIME, in nanoseconds; renewals move
// it.
type Grant struct {
	Deadline uint64
	Token    uint64
	Attempts uint32
}

// NoEnd is what remains of a lock that is held without a lease.
const NoEnd = time.Duration(math.MaxInt64)

func remaining(ns uint64) time.Duration {
	if ns > math.MaxInt64 {
		return NoEnd
	}
	return time.Duration(ns)
}

// Status describes the state of a Lock, judged by the clock now.
type Status struct {
	State     State
	Reason    uint32        // enum bftm_lost
	Remaining time.Duration // 0 unless held; NoEnd without a lease
	Deadline  uint64        // math.MaxUint64 without a lease
	Token     uint64
	Mode      Mode // of the lock that is or was held
}

// Open makes a lock handle. It is not inherited by programs that are executed.
func Open() (*Lock, error) {
	fd, err := syscall.Open(Device, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Device, err)
	}
	return &Lock{fd: fd, isOpen: true}, nil
}

// Close gives back the lock, if it is held. Calls that wait return ErrClosed within a second,
// and Submit goes on. Another Close does nothing.
func (l *Lock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isOpen {
		return nil
	}
	l.isOpen = false
	if l.calls == 0 {
		return syscall.Close(l.fd)
	}
	// The file is open until a Submit ends. A value that was set is not for others after a Close.
	arg := statusArg{size: uint32(unsafe.Sizeof(statusArg{}))}
	if ioctl(l.fd, iocStatus, unsafe.Pointer(&arg)) == nil && State(arg.state) == Pending {
		ioctl(l.fd, iocRelease, nil)
	}
	return nil
}

// enter says that fd is in use, until leave.
func (l *Lock) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isOpen {
		return ErrClosed
	}
	l.calls++
	return nil
}

func (l *Lock) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls--
	if !l.isOpen && l.calls == 0 {
		syscall.Close(l.fd)
	}
}

// Fd is the descriptor, -1 if there is none: poll it for POLLHUP to learn that the lease is over,
// and for POLLRDBAND to learn that somebody waits for a mode that the held one excludes.
func (l *Lock) Fd() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isOpen {
		return -1
	}
	return l.fd
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

func (l *Lock) call(request uintptr, arg unsafe.Pointer) error {
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	return ioctl(l.fd, request, arg)
}

func (o Options) flags() (flags uint32) {
	if o.Try {
		flags |= flagTry
	}
	if o.Fence {
		flags |= flagFence
	}
	if o.Value {
		flags |= flagValue
	}
	return
}

// begin makes a request that does not wait: a signal, of Go's runtime for example, would end one
// that waits, and its place in the queue would be lost. Programs that inherit the descriptor expect
// one that blocks.
func (l *Lock) begin(request uintptr, arg unsafe.Pointer) error {
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	l.begins.Lock()
	defer l.begins.Unlock()
	syscall.SetNonblock(l.fd, true)
	defer syscall.SetNonblock(l.fd, false)
	return ioctl(l.fd, request, arg)
}

// watch makes an epoll descriptor for the end of the lease and, with EPOLLIN, for what begin began.
// Unlike poll, epoll keeps no file open that is closed meanwhile.
func (l *Lock) watch(events uint32) (poll int, err error) {
	if poll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return
	}
	if err = l.enter(); err == nil {
		err = syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, l.fd, &syscall.EpollEvent{Events: events})
		l.leave()
	}
	if err != nil {
		syscall.Close(poll)
	}
	return
}

// look waits for an event, a second at most: a Release or a Close of another goroutine is none.
func look(poll int) (there bool, err error) {
	var event [1]syscall.EpollEvent
	count, err := syscall.EpollWait(poll, event[:], 1000)
	if err == syscall.EINTR {
		err = nil
	}
	return count > 0, err
}

func (l *Lock) status() (arg statusArg, err error) {
	arg.size = uint32(unsafe.Sizeof(arg))
	err = l.call(iocStatus, unsafe.Pointer(&arg))
	return
}

func (l *Lock) released() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.releases
}

// decided begins a request and waits for its end. The status is set unless the request was done at
// once or failed.
func (l *Lock) decided(request uintptr, arg unsafe.Pointer) (s statusArg, err error) {
	poll, err := l.watch(syscall.EPOLLIN)
	if err != nil {
		return
	}
	defer syscall.Close(poll)
	before := l.released()
	if err = l.begin(request, arg); err != syscall.EINPROGRESS {
		return
	}
	for there := false; ; {
		if there, err = look(poll); err != nil {
			return
		}
		if s, err = l.status(); err != nil {
			return
		}
		if l.released() != before {
			return s, syscall.ECANCELED
		}
		if state := State(s.state); there || state != Pending && state != Held {
			break
		}
	}
	switch State(s.state) {
	case Held:
		if request == iocConvert && s.error != 0 {
			err = syscall.Errno(s.error)
		}
	case Lost:
		err = syscall.EKEYEXPIRED
	case Failed:
		err = syscall.Errno(s.error)
	default:
		err = syscall.ECANCELED
	}
	return
}

func put(to []byte, what, text string, least int) error {
	if len(text) < least || len(text) > len(to) {
		return fmt.Errorf("bftmutex: %s '%s': must be %d to %d bytes", what, text, least, len(to))
	}
	copy(to, text)
	return nil
}

// Acquire waits until the lock is held.
func (l *Lock) Acquire(name string, o Options) (Grant, error) {
	if o.Timeout < 0 {
		return Grant{}, ErrBusy
	}
	var arg acquireArg
	if err := put(arg.name[:], "name", name, 1); err != nil {
		return Grant{}, err
	}
	if err := put(arg.cluster[:], "cluster", o.Cluster, 0); err != nil {
		return Grant{}, err
	}
	arg.size, arg.nameLen = uint32(unsafe.Sizeof(arg)), uint32(len(name))
	arg.leaseNs, arg.timeoutNs = uint64(o.Lease), uint64(o.Timeout)
	arg.mode = uint32(o.Mode)
	arg.flags = o.flags()
	if !o.NoRenew {
		arg.flags |= flagRenew
	}
	end, attempts := time.Now().Add(o.Timeout), uint32(0)
	s, err := l.decided(iocAcquire, unsafe.Pointer(&arg))
	for err == syscall.EKEYEXPIRED && !o.Try { // the lease was over before this goroutine ran
		attempts += s.attempts
		if o.Timeout > 0 {
			left := time.Until(end)
			if left <= 0 {
				break
			}
			arg.timeoutNs = uint64(left)
		}
		s, err = l.decided(iocAcquire, unsafe.Pointer(&arg))
	}
	switch err {
	case nil:
		return Grant{s.deadlineNs, s.token, attempts + s.attempts}, nil
	case ErrClosed:
		return Grant{}, err
	case syscall.EWOULDBLOCK, syscall.ETIMEDOUT, syscall.EKEYEXPIRED: // the last with Try: over at once
		return Grant{}, ErrBusy
	}
	return Grant{}, fmt.Errorf("bftmutex: lock '%s': %w", name, err)
}

// Convert holds the lock in another mode. A mode that the present one covers, as Exclusive covers
// all, is held at once: first stop doing what it does not allow. For any other mode Convert waits;
// the present mode is held meanwhile, and after ErrBusy and ErrDeadlock. Timeout, Try, Fence and
// Value of the options count; a lock that was acquired with its value keeps it. Attempts of the
// grant is 0.
func (l *Lock) Convert(mode Mode, o Options) (Grant, error) {
	if o.Timeout < 0 {
		return Grant{}, ErrBusy
	}
	// Another one would take the place of the first.
	if !l.converting.TryLock() {
		return Grant{}, fmt.Errorf("bftmutex: conversion: %w", syscall.EBUSY)
	}
	defer l.converting.Unlock()
	arg := convertArg{flags: o.flags(), mode: uint32(mode), timeoutNs: uint64(o.Timeout)}
	arg.size = uint32(unsafe.Sizeof(arg))
	s, err := l.decided(iocConvert, unsafe.Pointer(&arg))
	switch err {
	case nil:
		if s.size == 0 { // it was done at once
			return Grant{Deadline: arg.deadlineNs, Token: arg.token}, nil
		}
		return Grant{Deadline: s.deadlineNs, Token: s.token}, nil
	case ErrClosed:
		return Grant{}, err
	case syscall.EWOULDBLOCK, syscall.ETIMEDOUT:
		return Grant{}, ErrBusy
	case syscall.EDEADLK:
		return Grant{}, ErrDeadlock
	case syscall.EKEYEXPIRED:
		return Grant{}, ErrLost
	}
	return Grant{}, fmt.Errorf("bftmutex: conversion: %w", err)
}

// Value reads the value that the last holder in Exclusive or ProtectedWrite left, or this one has
// set since. A value that is not known is not valid; that is no error. The lock is held with
// Options.Value.
func (l *Lock) Value() (value []byte, valid bool, err error) {
	arg := valueArg{size: uint32(unsafe.Sizeof(valueArg{}))}
	err = valued(l.call(iocValue, unsafe.Pointer(&arg)))
	return append(value, arg.bytes[:arg.len]...), arg.valid != 0, err
}

// SetValue leaves a value of 0 to 64 bytes to the next holders, who read it as soon as this one
// releases the lock or converts it to less; after a mere Close it is not valid. The lock is held
// with Options.Value, in Exclusive or ProtectedWrite.
func (l *Lock) SetValue(value []byte) error {
	arg := valueArg{op: valueSet, len: uint32(len(value))}
	if err := put(arg.bytes[:], "value", string(value), 0); err != nil {
		return err
	}
	arg.size = uint32(unsafe.Sizeof(arg))
	return valued(l.call(iocValue, unsafe.Pointer(&arg)))
}

func valued(err error) error {
	switch err {
	case nil:
		return nil
	case syscall.EKEYEXPIRED:
		return ErrLost
	}
	return fmt.Errorf("bftmutex: value: %w", err)
}

// Release gives the lock back.
func (l *Lock) Release() error {
	l.mu.Lock()
	l.releases++
	l.mu.Unlock()
	err := l.call(iocRelease, nil)
	if err == syscall.EKEYEXPIRED {
		return ErrLost
	}
	return err
}

// Status asks the kernel.
func (l *Lock) Status() (Status, error) {
	arg, err := l.status()
	return Status{State(arg.state), arg.reason, remaining(arg.remainingNs), arg.deadlineNs, arg.token, Mode(arg.mode)}, err
}

// WaitLost returns when the lease is over, or nothing is held.
func (l *Lock) WaitLost() error {
	poll, err := l.watch(0) // a hang-up is always told
	if err != nil {
		return err
	}
	defer syscall.Close(poll)
	before := l.released()
	for {
		s, err := l.Status()
		if err != nil || s.State != Held || l.released() != before {
			return err
		}
		if _, err = look(poll); err != nil {
			return err
		}
	}
}

var (
	never bool
	sink  []byte
)

// onHeap returns memory that stays where it is: the kernel is told its address, and Go moves stacks.
func onHeap(b []byte) []byte {
	if never {
		sink = b
	}
	return b
}

// Submit has a request applied, once, to an object that all clients of a cluster share. The error
// is an errno of the object after it was applied when number is not 0. After ETIMEDOUT, EOWNERDEAD,
// ENETUNREACH and EREMOTEIO it is not known whether it was or will be applied.
func (l *Lock) Submit(object, request string, o Options) (response []byte, number uint64, err error) {
	var arg submitArg
	if err = put(arg.name[:63], "object", object, 1); err != nil {
		return
	}
	if err = put(arg.cluster[:], "cluster", o.Cluster, 0); err != nil {
		return
	}
	if o.Timeout < 0 {
		return nil, 0, fmt.Errorf("bftmutex: object '%s': %w", object, syscall.ETIMEDOUT)
	}
	op, room := onHeap([]byte(request)), onHeap(make([]byte, submitMax))
	if len(op) == 0 || len(op) > submitMax {
		return nil, 0, fmt.Errorf("bftmutex: request: must be 1 to %d bytes", submitMax)
	}
	arg.size, arg.nameLen, arg.opLen = uint32(unsafe.Sizeof(arg)), uint32(len(object)), uint32(len(op))
	arg.op, arg.response = uint64(uintptr(unsafe.Pointer(&op[0]))), uint64(uintptr(unsafe.Pointer(&room[0])))
	arg.responseRoom, arg.timeoutNs = uint32(len(room)), uint64(o.Timeout)
	// After a signal it would not be known whether it was applied, and Go's runtime sends some.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, before := ^uint64(0), uint64(0)
	mask := func(new, old *uint64) {
		syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 2, uintptr(unsafe.Pointer(new)),
			uintptr(unsafe.Pointer(old)), unsafe.Sizeof(all), 0, 0)
	}
	mask(&all, &before)
	err = l.call(iocSubmit, unsafe.Pointer(&arg))
	mask(&before, nil)
	runtime.KeepAlive(op)
	runtime.KeepAlive(room)
	if err != nil {
		return nil, 0, fmt.Errorf("bftmutex: object '%s': %w", object, err)
	}
	if arg.status != 0 {
		err = fmt.Errorf("bftmutex: object '%s': %w", object, syscall.Errno(arg.status))
	}
	return room[:arg.responseLen], arg.number, err
}
