// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0
//! Locks of a cluster whose servers may lie, by /dev/bftmutex of Linux, which bftmutex(4)
//! describes. It needs nothing but std. Put this file beside main.rs, and `mod bftmutex;` there.
//!
//!     let mut lock = bftmutex::Lock::open()?;
//!     let guard = lock.acquire("jobs", &bftmutex::Options { fence: true, ..Default::default() })?;
//!     store(guard.grant.token);            // ... guard.status()?.state
//!     guard.release()?;                    // Lost: the lease was over before
//!
//! A guard that is dropped gives the lock back as well, and ignores errors.
#![allow(dead_code)]

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::mem::size_of;
use std::os::raw::{c_int, c_ulong, c_void};
use std::os::unix::io::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

pub const DEVICE: &str = "/dev/bftmutex";
pub const EWOULDBLOCK: i32 = 11;
pub const EDEADLK: i32 = 35;
pub const ETIMEDOUT: i32 = 110;
pub const EKEYEXPIRED: i32 = 127;
/// A lock that is held without a lease has so much time left.
pub const NO_END: Duration = Duration::MAX;
const SUBMIT_MAX: usize = 16384;
const VALUE_MAX: usize = 64;
const VALUE_GET: u32 = 0;
const VALUE_SET: u32 = 1;
const POLLIN: i16 = 1;
const POLLHUP: i16 = 16;
const EINPROGRESS: i32 = 115;
const ECANCELED: i32 = 125;
const F_SETFL: c_int = 4;
const O_NONBLOCK: c_int = 0o4000;

/// State of a handle, enum bftm_state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Idle,
    Pending,
    Held,
    Lost,
    Failed,
}

/// Modes of a lock, enum bftm_lock_mode. Several programs may hold a lock in Shared at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    #[default]
    Exclusive = 0,
    ProtectedWrite = 1,
    /// Protected read.
    Shared = 2,
    ConcurrentWrite = 3,
    ConcurrentRead = 4,
}

// Structures of linux/bftmutex.h; a test compares abi_sizes().
#[repr(C)]
struct AcquireArg {
    size: u32,
    flags: u32,
    way: u32,
    name_len: u32,
    cluster: [u8; 32],
    name: [u8; 64],
    lease_ns: u64,
    timeout_ns: u64,
    deadline_ns: u64,
    token: u64,
    attempts: u32,
    mode: u32,
}

#[repr(C)]
#[derive(Default)]
struct StatusArg {
    size: u32,
    state: u32,
    reason: u32,
    error: i32,
    deadline_ns: u64,
    remaining_ns: u64,
    token: u64,
    attempts: u32,
    mode: u32,
}

#[repr(C)]
struct ConvertArg {
    size: u32,
    flags: u32,
    mode: u32,
    reserved: u32,
    timeout_ns: u64,
    deadline_ns: u64,
    token: u64,
}

#[repr(C)]
struct ValueArg {
    size: u32,
    op: u32,
    len: u32,
    valid: u32,
    bytes: [u8; VALUE_MAX],
}

#[repr(C)]
struct SubmitArg {
    size: u32,
    flags: u32,
    name_len: u32,
    op_len: u32,
    cluster: [u8; 32],
    name: [u8; 64],
    op: u64,
    response: u64,
    response_room: u32,
    response_len: u32,
    timeout_ns: u64,
    id: u64,
    number: u64,
    status: u32,
    reserved: u32,
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: i16,
    revents: i16,
}

extern "C" {
    fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn poll(fds: *mut PollFd, count: c_ulong, timeout_ms: c_int) -> c_int;
}

const fn ioc(direction: usize, number: usize, size: usize) -> usize {
    direction << 30 | size << 16 | 0xbf << 8 | number
}

/// The numbers of the requests, which contain the sizes of their structures.
pub const fn abi_sizes() -> [usize; 6] {
    [
        ioc(3, 1, size_of::<AcquireArg>()),
        ioc(0, 3, 0),
        ioc(3, 4, size_of::<StatusArg>()),
        ioc(3, 6, size_of::<SubmitArg>()),
        ioc(3, 8, size_of::<ConvertArg>()),
        ioc(3, 9, size_of::<ValueArg>()),
    ]
}
const ACQUIRE: usize = abi_sizes()[0];
const RELEASE: usize = abi_sizes()[1];
const STATUS: usize = abi_sizes()[2];
const SUBMIT: usize = abi_sizes()[3];
const CONVERT: usize = abi_sizes()[4];
const VALUE: usize = abi_sizes()[5];

/// Options of acquire(), convert() and submit().
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// "" for the default one.
    pub cluster: String,
    /// None for the cluster's default.
    pub lease: Option<Duration>,
    /// None waits for ever.
    pub timeout: Option<Duration>,
    /// Ask once.
    pub try_once: bool,
    /// Lost at the end of the lease.
    pub no_renew: bool,
    /// With a token.
    pub fence: bool,
    /// With the lock's value.
    pub value: bool,
    /// Of acquire().
    pub mode: Mode,
}

/// An acquired lock. The deadline is on CLOCK_BOOTTIME, in nanoseconds; renewals move it.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    pub deadline_ns: u64,
    pub token: u64,
    pub attempts: u32,
}

/// State of a handle, judged by the clock now.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    pub state: State,
    /// enum bftm_lost
    pub reason: u32,
    /// Zero unless held; NO_END without a lease.
    pub remaining: Duration,
    pub token: u64,
    /// Of the lock that is or was held: a number of Mode.
    pub mode: u32,
}

/// Result of a request to an object.
#[derive(Clone, Debug)]
pub struct Response {
    pub data: Vec<u8>,
    /// Grows with each request that is done to the object.
    pub number: u64,
    /// 0, or errno of the object: why it did not do as it was asked.
    pub status: u32,
}

/// An open file of the device. It is not inherited by programs that are executed.
pub struct Lock {
    file: File,
}

/// A lock that is held, or was lost meanwhile.
pub struct Guard<'a> {
    lock: &'a mut Lock,
    pub grant: Grant,
    released: bool,
}

fn put(to: &mut [u8], what: &str, text: &str, least: usize) -> Result<()> {
    if text.len() < least || text.len() > to.len() {
        let words = format!("{} '{}': must be {} to {} bytes", what, text, least, to.len());
        return Err(Error::new(ErrorKind::InvalidInput, words));
    }
    to[..text.len()].copy_from_slice(text.as_bytes());
    Ok(())
}

impl Options {
    fn flags(&self) -> u32 {
        self.try_once as u32 | (self.fence as u32) << 2 | (self.value as u32) << 3
    }
}

// 0 would mean for ever, or the default.
fn nanoseconds(time: Option<Duration>) -> u64 {
    time.map_or(0, |t| t.as_nanos().clamp(1, u64::MAX as u128) as u64)
}

fn remaining_of(ns: u64) -> Duration {
    match ns {
        u64::MAX => NO_END,
        ns => Duration::from_nanos(ns),
    }
}

impl Lock {
    pub fn open() -> Result<Lock> {
        Ok(Lock { file: OpenOptions::new().read(true).write(true).open(DEVICE)? })
    }

    fn call<T>(&self, request: usize, arg: *mut T) -> Result<()> {
        // SAFETY: each request contains the size of its structure, and arg points to one or, for a
        // release, is null.
        match unsafe { ioctl(self.file.as_raw_fd(), request as c_ulong, arg as *mut c_void) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }

    // A signal would end a call that waits, and its place in the queue would be lost. So the
    // request is begun, and then waited for. Programs that inherit the descriptor expect one that
    // blocks. None: the request was done at once.
    fn decided<T>(&self, request: usize, arg: &mut T) -> Result<Option<StatusArg>> {
        let fd = self.file.as_raw_fd();
        // SAFETY: these calls take numbers.
        unsafe { fcntl(fd, F_SETFL, O_NONBLOCK) };
        let begun = self.call(request, arg);
        unsafe { fcntl(fd, F_SETFL, 0 as c_int) };
        match begun {
            Err(error) if error.raw_os_error() == Some(EINPROGRESS) => (),
            result => return result.map(|_| None),
        }
        let mut p = PollFd { fd, events: POLLIN, revents: 0 };
        loop {
            // A release by another process is no event: look again each second.
            // SAFETY: p is one entry, and lives until poll() returns.
            let there = unsafe { poll(&mut p, 1, 1000) } > 0;
            let status = self.status_arg()?;
            let errno = match status.state {
                1 => continue,
                2 if !there => continue,
                2 if request == CONVERT => status.error,
                2 => 0,
                3 => EKEYEXPIRED,
                4 => status.error,
                _ => ECANCELED,
            };
            return if errno == 0 { Ok(Some(status)) } else { Err(Error::from_raw_os_error(errno)) };
        }
    }

    /// Wait until the lock is held. EWOULDBLOCK and ETIMEDOUT: somebody else has it.
    pub fn acquire(&mut self, name: &str, options: &Options) -> Result<Guard<'_>> {
        let mut arg = AcquireArg {
            size: size_of::<AcquireArg>() as u32,
            flags: options.flags() | (!options.no_renew as u32) << 1,
            way: 0,
            name_len: name.len() as u32,
            cluster: [0; 32],
            name: [0; 64],
            lease_ns: nanoseconds(options.lease),
            timeout_ns: nanoseconds(options.timeout),
            deadline_ns: 0,
            token: 0,
            attempts: 0,
            mode: options.mode as u32,
        };
        put(&mut arg.name, "name", name, 1)?;
        put(&mut arg.cluster, "cluster", &options.cluster, 0)?;
        let began = Instant::now();
        let status = loop {
            match self.decided(ACQUIRE, &mut arg) {
                // The lease was over before this thread ran.
                Err(error) if error.raw_os_error() == Some(EKEYEXPIRED) && !options.try_once => {
                    if let Some(timeout) = options.timeout {
                        match timeout.checked_sub(began.elapsed()) {
                            None => return Err(Error::from_raw_os_error(ETIMEDOUT)),
                            left => arg.timeout_ns = nanoseconds(left),
                        }
                    }
                }
                result => break result?.unwrap_or_default(),
            }
        };
        let (deadline_ns, token) = (status.deadline_ns, status.token);
        let grant = Grant { deadline_ns, token, attempts: status.attempts };
        Ok(Guard { lock: self, grant, released: false })
    }

    fn status_arg(&self) -> Result<StatusArg> {
        let mut arg = StatusArg { size: size_of::<StatusArg>() as u32, ..Default::default() };
        self.call(STATUS, &mut arg)?;
        Ok(arg)
    }

    /// Ask the kernel.
    pub fn status(&self) -> Result<Status> {
        let arg = self.status_arg()?;
        let state = match arg.state {
            0 => State::Idle,
            1 => State::Pending,
            2 => State::Held,
            3 => State::Lost,
            _ => State::Failed,
        };
        let remaining = remaining_of(arg.remaining_ns);
        Ok(Status { state, reason: arg.reason, remaining, token: arg.token, mode: arg.mode })
    }

    /// Have a request applied, once, to an object that all clients of a cluster share. After
    /// ETIMEDOUT, EINTR, EOWNERDEAD, ENETUNREACH and EREMOTEIO it is not known whether it was or
    /// will be applied.
    pub fn submit(&self, object: &str, request: &[u8], options: &Options) -> Result<Response> {
        let mut room = vec![0u8; SUBMIT_MAX];
        let mut arg = SubmitArg {
            size: size_of::<SubmitArg>() as u32,
            flags: 0,
            name_len: object.len() as u32,
            op_len: request.len() as u32,
            cluster: [0; 32],
            name: [0; 64],
            op: request.as_ptr() as u64,
            response: room.as_mut_ptr() as u64,
            response_room: room.len() as u32,
            response_len: 0,
            timeout_ns: nanoseconds(options.timeout),
            id: 0,
            number: 0,
            status: 0,
            reserved: 0,
        };
        put(&mut arg.name[..63], "object", object, 1)?;
        put(&mut arg.cluster, "cluster", &options.cluster, 0)?;
        self.call(SUBMIT, &mut arg)?;
        room.truncate(arg.response_len as usize);
        Ok(Response { data: room, number: arg.number, status: arg.status })
    }
}

/// For poll(): POLLHUP when the lease is over, POLLRDBAND when somebody waits for a mode that the
/// held one excludes.
impl AsRawFd for Lock {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl Guard<'_> {
    pub fn status(&self) -> Result<Status> {
        self.lock.status()
    }

    /// Hold the lock in another mode. A mode that the present one covers, as Exclusive covers all, is
    /// held at once: first stop doing what it does not allow. For any other mode the call waits; the
    /// present mode is held meanwhile, and after EWOULDBLOCK, ETIMEDOUT and EDEADLK (another holder converts
    /// too, and each waits for the other: release, or convert to less). timeout, try_once, fence and
    /// value of the options count; a lock that was acquired with its value keeps it.
    pub fn convert(&mut self, mode: Mode, options: &Options) -> Result<()> {
        let mut arg = ConvertArg {
            size: size_of::<ConvertArg>() as u32,
            flags: options.flags(),
            mode: mode as u32,
            reserved: 0,
            timeout_ns: nanoseconds(options.timeout),
            deadline_ns: 0,
            token: 0,
        };
        let (deadline_ns, token) = match self.lock.decided(CONVERT, &mut arg)? {
            Some(status) => (status.deadline_ns, status.token),
            None => (arg.deadline_ns, arg.token),
        };
        self.grant.deadline_ns = deadline_ns;
        self.grant.token = token;
        Ok(())
    }

    fn value_call(&self, op: u32, value: &[u8]) -> Result<ValueArg> {
        let mut arg = ValueArg {
            size: size_of::<ValueArg>() as u32,
            op,
            len: value.len() as u32,
            valid: 0,
            bytes: [0; VALUE_MAX],
        };
        if value.len() > VALUE_MAX {
            let words = format!("value of {} bytes: must be 0 to {}", value.len(), VALUE_MAX);
            return Err(Error::new(ErrorKind::InvalidInput, words));
        }
        arg.bytes[..value.len()].copy_from_slice(value);
        self.lock.call(VALUE, &mut arg)?;
        Ok(arg)
    }

    /// The value that the last holder in Exclusive or ProtectedWrite left, or that this one has set
    /// since; None when it is not known. ENODATA: the lock was acquired without value.
    pub fn value(&self) -> Result<Option<Vec<u8>>> {
        let arg = self.value_call(VALUE_GET, &[])?;
        Ok((arg.valid != 0).then(|| arg.bytes[..arg.len as usize].to_vec()))
    }

    /// Leave a value of 0 to 64 bytes to the next holders, who read it as soon as this one releases
    /// the lock or converts it to less. EPERM: the mode is not Exclusive or ProtectedWrite.
    pub fn set_value(&self, value: &[u8]) -> Result<()> {
        self.value_call(VALUE_SET, value).map(|_| ())
    }

    /// Give the lock back. EKEYEXPIRED: the lease was over before.
    pub fn release(mut self) -> Result<()> {
        self.released = true;
        self.lock.call(RELEASE, std::ptr::null_mut::<u8>())
    }

    /// Sleep until the lease is over, for at_most; is it over?
    pub fn wait_lost(&self, at_most: Duration) -> Result<bool> {
        let mut p = PollFd { fd: self.lock.as_raw_fd(), events: 0, revents: 0 };
        let ms = at_most.as_millis().min(c_int::MAX as u128) as c_int;
        // SAFETY: p is one entry, and lives until poll() returns.
        match unsafe { poll(&mut p, 1, ms) } {
            -1 => Err(Error::last_os_error()),
            _ => Ok(p.revents & POLLHUP != 0),
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.released {
            // Only release() reports a lost lock.
            let _ = self.lock.call(RELEASE, std::ptr::null_mut::<u8>());
        }
    }
}
