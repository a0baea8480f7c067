// SPDX-License-Identifier: GPL-2.0

// Part of bindings: prints TAP about the package for Go; with "abi" its numbers.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"test/bftmutex"
)

var count int

func is(name string, got, want interface{}) {
	count++
	if got == want {
		fmt.Printf("ok %d - %s\n", count, name)
	} else {
		fmt.Printf("# got:  %v\n# want: %v\nnot ok %d - %s\n", got, want, count, name)
	}
}

// values passes one of them from a writer to a reader.
func values(lock, other *bftmutex.Lock) {
	with := bftmutex.Options{Value: true, Timeout: time.Minute}
	_, err := lock.Acquire("value", with)
	is("with a value", err, nil)
	_, valid, err := lock.Value()
	is("which nobody has set", err == nil && !valid, true)
	is("it is set", lock.SetValue([]byte("seventeen")), nil)
	value, valid, err := lock.Value()
	is("read by its writer", err == nil && valid && string(value) == "seventeen", true)
	is("65 bytes are too long", lock.SetValue(make([]byte, 65)) != nil, true)
	_, err = lock.Convert(bftmutex.Shared, bftmutex.Options{})
	is("given on with a conversion", err, nil)
	reader := bftmutex.Options{Mode: bftmutex.Shared, Value: true, Timeout: time.Minute}
	_, err = other.Acquire("value", reader)
	is("to a reader", err, nil)
	value, valid, err = other.Value()
	is("who reads it", err == nil && valid && string(value) == "seventeen", true)
	is("and sets none", errors.Is(other.SetValue(nil), syscall.EPERM), true)
	lock.Release()
	_, err = other.Convert(bftmutex.ProtectedWrite, with)
	is("but as a writer", err, nil)
	is("an empty one", other.SetValue(nil), nil)
	is("released", other.Release(), nil)
	_, err = lock.Acquire("value", bftmutex.Options{Mode: bftmutex.ConcurrentRead, Timeout: time.Minute})
	is("without the value", err, nil)
	_, _, err = lock.Value()
	is("it is not told", errors.Is(err, syscall.ENODATA), true)
	_, err = lock.Convert(bftmutex.Shared, with)
	value, valid, _ = lock.Value()
	is("but from a conversion on", err == nil && valid && len(value) == 0, true)
	is("and released", lock.Release(), nil)
	_, _, err = lock.Value()
	is("it is not told either", errors.Is(err, syscall.ENOLCK), true)
}

// places takes a lock while signals come, and others wait behind it.
func places(first, second *bftmutex.Lock) {
	holder, _ := bftmutex.Open()
	holder.Acquire("places", bftmutex.Options{})
	order := make(chan string, 2)
	acquire := func(l *bftmutex.Lock, name string) {
		l.Acquire("places", bftmutex.Options{})
		order <- name
		l.Release()
	}
	go func() {
		// Signals for this thread alone.
		runtime.LockOSThread()
		thread := syscall.Gettid()
		go func() {
			for i := 0; i < 100; i++ {
				time.Sleep(10 * time.Millisecond)
				syscall.Tgkill(syscall.Getpid(), thread, syscall.SIGURG)
			}
		}()
		acquire(first, "first")
	}()
	time.Sleep(300 * time.Millisecond)
	go acquire(second, "second")
	time.Sleep(700 * time.Millisecond)
	holder.Close()
	is("signals cost no place in the queue", <-order+" "+<-order, "first second")
}

// closed closes handles while calls wait on them.
func closed() {
	holder, _ := bftmutex.Open()
	waiting, _ := bftmutex.Open()
	third, _ := bftmutex.Open()
	holder.Acquire("closed", bftmutex.Options{})
	ended := make(chan error, 1)
	acquire := func() {
		_, err := waiting.Acquire("closed", bftmutex.Options{})
		ended <- err
	}
	go acquire()
	time.Sleep(300 * time.Millisecond)
	waiting.Release()
	is("a release ends an acquire", errors.Is(<-ended, syscall.ECANCELED), true)
	go acquire()
	time.Sleep(300 * time.Millisecond)
	is("a close", waiting.Close(), nil)
	is("does so too", <-ended, bftmutex.ErrClosed)
	holder.Release()
	_, err := third.Acquire("closed", bftmutex.Options{Timeout: time.Minute})
	is("and the lock is free", err, nil)
	file, _ := os.Open("/proc/self/stat")
	is("a second close", waiting.Close(), nil)
	_, err = file.Read(make([]byte, 10))
	is("closes no other file", err, nil)
	file.Close()
	is("no descriptor", waiting.Fd(), -1)
	go func() { ended <- third.WaitLost() }()
	time.Sleep(300 * time.Millisecond)
	third.Close()
	_, err = holder.Acquire("closed", bftmutex.Options{Timeout: time.Second / 2})
	is("a close gives the lock back at once", err, nil)
	is("and is told to a waiter", <-ended, bftmutex.ErrClosed)
	holder.Close()
	var zero bftmutex.Lock
	_, err = zero.Acquire("closed", bftmutex.Options{})
	is("the zero Lock is closed", err, bftmutex.ErrClosed)
	is("and closes nothing", zero.Close(), nil)
	is("not even descriptor 0", isOpen(0), true)
}

func isOpen(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil
}

// late calls have less than no time left.
func late(lock, other *bftmutex.Lock) {
	over := bftmutex.Options{Timeout: -time.Second}
	_, err := lock.Acquire("late", over)
	is("no time is left", err, bftmutex.ErrBusy)
	lock.Acquire("late", bftmutex.Options{Mode: bftmutex.Shared})
	other.Acquire("late", bftmutex.Options{Mode: bftmutex.Shared})
	_, err = lock.Convert(bftmutex.Exclusive, over)
	is("nor for a conversion", err, bftmutex.ErrBusy)
	_, _, err = lock.Submit("counter", "get", over)
	is("nor for a request", errors.Is(err, syscall.ETIMEDOUT), true)
	ended := make(chan error, 1)
	go func() {
		_, err := lock.Convert(bftmutex.Exclusive, bftmutex.Options{})
		ended <- err
	}()
	time.Sleep(300 * time.Millisecond)
	_, err = lock.Convert(bftmutex.ProtectedWrite, bftmutex.Options{})
	is("one conversion at a time", errors.Is(err, syscall.EBUSY), true)
	other.Release()
	is("which goes on", <-ended, nil)
	lock.Release()
}

func main() {
	if len(os.Args) > 1 {
		for _, number := range bftmutex.AbiSizes() {
			fmt.Println(number)
		}
		return
	}
	lock, err := bftmutex.Open()
	is("open", err, nil)
	other, _ := bftmutex.Open()
	grant, err := lock.Acquire("binding", bftmutex.Options{Fence: true, Timeout: time.Minute})
	is("acquire", err, nil)
	is("a token, until a deadline", grant.Token > 0 && grant.Deadline > 0, true)
	status, err := lock.Status()
	is("held", status.State == bftmutex.Held && status.Remaining > 0 && status.Token == grant.Token, true)
	_, err = other.Acquire("binding", bftmutex.Options{Try: true})
	is("not twice", err, bftmutex.ErrBusy)
	_, err = other.Acquire("binding", bftmutex.Options{Timeout: time.Second / 5})
	is("nor in time", err, bftmutex.ErrBusy)
	is("release", lock.Release(), nil)
	is("twice", lock.Release(), syscall.ENOLCK)
	next, err := other.Acquire("binding", bftmutex.Options{Fence: true, Timeout: time.Minute})
	is("with a larger token", err == nil && next.Token > grant.Token, true)
	is("given back", other.Release(), nil)
	shared := bftmutex.Options{Mode: bftmutex.Shared, Timeout: time.Minute}
	_, err = lock.Acquire("readers", shared)
	is("shared", err, nil)
	_, err = other.Acquire("readers", shared)
	is("by two", err, nil)
	status, err = other.Status()
	is("which its status tells", err == nil && status.Mode == bftmutex.Shared, true)
	_, err = lock.Convert(bftmutex.Exclusive, bftmutex.Options{Try: true})
	is("beside whom there is no writer", err, bftmutex.ErrBusy)
	_, err = lock.Convert(bftmutex.Exclusive, bftmutex.Options{Timeout: time.Second / 5})
	is("nor in time", err, bftmutex.ErrBusy)
	ended := make(chan error)
	convert := func(l *bftmutex.Lock) {
		_, err := l.Convert(bftmutex.Exclusive, bftmutex.Options{Timeout: time.Minute})
		if err == bftmutex.ErrDeadlock {
			l.Release() // then the other has it
		}
		ended <- err
	}
	go convert(lock)
	go convert(other)
	one, another := <-ended, <-ended
	if one == nil {
		one, another = another, one
	}
	is("both want to write: one is told of the deadlock", one, bftmutex.ErrDeadlock)
	is("and the other writes", another, nil)
	for _, l := range []*bftmutex.Lock{lock, other} {
		if status, _ = l.Status(); status.State == bftmutex.Held {
			is("which its status tells", status.Mode, bftmutex.Exclusive)
			next, err = l.Convert(bftmutex.Shared, bftmutex.Options{Fence: true})
			is("and reads again, with a token", err == nil && next.Token > 0 && next.Deadline > 0, true)
		} else {
			_, err = l.Convert(bftmutex.Shared, bftmutex.Options{})
			is("what is not held is not converted", errors.Is(err, syscall.ENOLCK), true)
		}
	}
	lock.Release()
	other.Release()
	values(lock, other)
	places(lock, other)
	closed()
	late(lock, other)
	_, err = lock.Acquire("readers", shared)
	is("shared once more", err, nil)
	_, err = other.Acquire("readers", bftmutex.Options{Try: true})
	is("no writer beside the other", err, bftmutex.ErrBusy)
	is("which releases", lock.Release(), nil)
	is("close", other.Close(), nil)
	_, err = lock.Acquire("short", bftmutex.Options{Lease: time.Second / 2, NoRenew: true})
	is("without renewal", err, nil)
	is("it is lost", lock.WaitLost(), nil)
	is("and a release says so", lock.Release(), bftmutex.ErrLost)
	_, err = lock.Acquire("", bftmutex.Options{})
	is("no name", fmt.Sprint(err), "bftmutex: name '': must be 1 to 64 bytes")
	_, err = lock.Acquire("x", bftmutex.Options{Cluster: "none"})
	is("no such cluster", errors.Is(err, syscall.ENOKEY), true)
	response, number, err := lock.Submit("counter", "add 1", bftmutex.Options{})
	is("an object", err == nil && number > 0 && string(response) != "", true)
	_, number, err = lock.Submit("counter", "jump", bftmutex.Options{})
	is("that does not do as it was asked", err != nil && number > 0, true)
	fmt.Printf("1..%d\n", count)
}
