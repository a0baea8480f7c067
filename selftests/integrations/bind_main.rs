// SPDX-License-Identifier: GPL-2.0
//! Part of bindings: prints TAP about the module for Rust; with "abi" its numbers.
use std::fmt::Debug;
use std::os::raw::c_int;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

mod bftmutex;
use bftmutex::{Lock, Mode, Options, State};

struct Tap {
    count: u32,
}

impl Tap {
    fn is<T: Debug + PartialEq>(&mut self, name: &str, got: T, want: T) {
        self.count += 1;
        if got == want {
            println!("ok {} - {}", self.count, name);
        } else {
            println!("# got:  {:?}\n# want: {:?}\nnot ok {} - {}", got, want, self.count, name);
        }
    }
}

fn errno<T>(result: std::io::Result<T>) -> i32 {
    result.err().map_or(0, |e| e.raw_os_error().unwrap_or(-1))
}

/// A writer passes a value to a reader.
fn values(tap: &mut Tap, lock: &mut Lock, other: &mut Lock) -> std::io::Result<()> {
    let with = Options { value: true, timeout: Some(Duration::from_secs(60)), ..Default::default() };
    let mut writer = lock.acquire("value of rust", &with)?;
    tap.is("a value that nobody has set", writer.value()?, None);
    writer.set_value(b"seventeen")?;
    tap.is("read by its writer", writer.value()?, Some(b"seventeen".to_vec()));
    let long = writer.set_value(&[0; 65]).err().map(|e| e.to_string());
    tap.is("too long", long.as_deref(), Some("value of 65 bytes: must be 0 to 64"));
    writer.convert(Mode::Shared, &Options::default())?;
    let mut reader = other.acquire("value of rust", &Options { mode: Mode::Shared, ..with.clone() })?;
    tap.is("read by a reader", reader.value()?, Some(b"seventeen".to_vec()));
    tap.is("who sets none", errno(reader.set_value(b"")), 1);
    writer.release()?;
    reader.convert(Mode::ProtectedWrite, &with)?;
    tap.is("but as a writer", errno(reader.set_value(b"")), 0);
    reader.release()?;
    let without = Options { mode: Mode::ConcurrentRead, timeout: with.timeout, ..Default::default() };
    let mut guard = lock.acquire("value of rust", &without)?;
    tap.is("not told without", errno(guard.value()), 61);
    guard.convert(Mode::Shared, &with)?;
    tap.is("but from a conversion on", guard.value()?, Some(vec![]));
    guard.release()
}

extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn pthread_self() -> usize;
    fn pthread_kill(thread: usize, number: c_int) -> c_int;
}
extern "C" fn nothing(_: c_int) {}
const SIGUSR1: c_int = 10;

/// Signals come to a thread that waits, and another thread waits behind it.
fn places(tap: &mut Tap) -> std::io::Result<()> {
    let mut holder = Lock::open()?;
    let held = holder.acquire("places", &Options::default())?;
    let (order, came) = mpsc::channel();
    let wait = |name: &'static str, order: mpsc::Sender<(&'static str, usize)>| {
        thread::spawn(move || {
            order.send(("", unsafe { pthread_self() })).unwrap();
            let mut lock = Lock::open().unwrap();
            let guard = lock.acquire("places", &Options::default()).unwrap();
            order.send((name, 0)).unwrap();
            guard.release().unwrap();
        })
    };
    // SAFETY: the handler does nothing, and the thread waits until the lock is released.
    unsafe { signal(SIGUSR1, nothing) };
    let first = wait("first", order.clone());
    let (_, number) = came.recv().unwrap();
    thread::sleep(Duration::from_millis(300));
    let second = wait("second", order);
    came.recv().unwrap();
    for _ in 0..50 {
        thread::sleep(Duration::from_millis(10));
        unsafe { pthread_kill(number, SIGUSR1) };
    }
    held.release()?;
    let names = (came.recv().unwrap().0, came.recv().unwrap().0);
    tap.is("signals cost no place in the queue", names, ("first", "second"));
    first.join().unwrap();
    second.join().unwrap();
    Ok(())
}

fn main() -> std::io::Result<()> {
    if std::env::args().len() > 1 {
        for number in bftmutex::abi_sizes() {
            println!("{}", number);
        }
        return Ok(());
    }
    let mut tap = Tap { count: 0 };
    let (mut lock, mut other) = (Lock::open()?, Lock::open()?);
    let fence = Options { fence: true, timeout: Some(Duration::from_secs(60)), ..Default::default() };
    let guard = lock.acquire("binding", &fence)?;
    let token = guard.grant.token;
    tap.is("a token, until a deadline", token > 0 && guard.grant.deadline_ns > 0, true);
    let status = guard.status()?;
    tap.is("held", (status.state, status.token), (State::Held, token));
    let once = Options { try_once: true, ..Default::default() };
    tap.is("not twice", errno(other.acquire("binding", &once)), bftmutex::EWOULDBLOCK);
    let soon = Options { timeout: Some(Duration::from_millis(200)), ..Default::default() };
    tap.is("nor in time", errno(other.acquire("binding", &soon)), bftmutex::ETIMEDOUT);
    tap.is("release", errno(guard.release()), 0);
    tap.is("nothing is held", lock.status()?.state, State::Idle);
    tap.is("with a larger token", other.acquire("binding", &fence)?.grant.token > token, true);
    tap.is("a guard that is dropped", other.status()?.state, State::Idle);
    let shared = Options { mode: Mode::Shared, timeout: fence.timeout, ..Default::default() };
    let reader = lock.acquire("readers", &shared)?;
    let beside = other.acquire("readers", &shared)?;
    tap.is("shared", (beside.status()?.state, beside.status()?.mode), (State::Held, 2));
    let mut reader = reader;
    tap.is("no writer beside", errno(reader.convert(Mode::Exclusive, &once)), bftmutex::EWOULDBLOCK);
    tap.is("nor in time", errno(reader.convert(Mode::Exclusive, &soon)), bftmutex::ETIMEDOUT);
    drop(beside);
    tap.is("then it is converted", errno(reader.convert(Mode::Exclusive, &fence)), 0);
    let writes = (reader.status()?.mode, reader.status()?.token, reader.grant.token > 0);
    tap.is("with a token", writes, (0, reader.grant.token, true));
    tap.is("and back", errno(reader.convert(Mode::Shared, &Options::default())), 0);
    tap.is("shared again", reader.status()?.mode, 2);
    tap.is("and no writer beside", errno(other.acquire("readers", &once)), bftmutex::EWOULDBLOCK);
    drop(reader);
    values(&mut tap, &mut lock, &mut other)?;
    places(&mut tap)?;
    let short = Options {
        lease: Some(Duration::from_millis(500)),
        no_renew: true,
        ..Default::default()
    };
    let guard = lock.acquire("short", &short)?;
    tap.is("it is lost", guard.wait_lost(Duration::from_secs(60))?, true);
    tap.is("and a release says so", errno(guard.release()), bftmutex::EKEYEXPIRED);
    let wrong = lock.acquire("", &once).err().map(|e| e.to_string());
    tap.is("no name", wrong.as_deref(), Some("name '': must be 1 to 64 bytes"));
    let none = Options { cluster: "none".to_string(), ..Default::default() };
    tap.is("no such cluster", errno(lock.acquire("x", &none)), 126);
    let done = lock.submit("counter", b"add 1", &Options::default())?;
    tap.is("an object", done.status == 0 && done.number > 0 && !done.data.is_empty(), true);
    let jump = lock.submit("counter", b"jump", &Options::default())?;
    tap.is("that does not do as it was asked", jump.status > 0 && jump.number > done.number, true);
    println!("1..{}", tap.count);
    Ok(())
}
