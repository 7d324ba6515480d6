//! Threads that walk a program together.
//!
//! A program is a list of phases with barriers between them, where one needs what another has made. Starting threads in each phase would take longer than
//! the phase, so that the threads live on, wait at the barriers by spinning, and sleep between programs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Which share of the work: `index` of `of`.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// This share.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Part {
    /// Everything.
    pub const WHOLE: Part = Part { index: 0, of: 1 };

    /// Whose share element `e` of `0..count` is.
    pub fn of_element(e: usize, count: usize, grain: usize, of: usize) -> usize {
        (0..of).find(|&index| Part { index, of }.range(count, grain).contains(&e)).unwrap_or(0)
    }

    /// This share of `0..count`, in pieces of `grain`.
    pub fn range(self, count: usize, grain: usize) -> std::ops::Range<usize> {
        let pieces = count.div_ceil(grain);
        let at = |k: usize| (pieces * k / self.of * grain).min(count);
        at(self.index)..at(self.index + 1)
    }
}

/// Where threads wait for each other.
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    /// A thread has panicked and will not come.
    broken: AtomicBool,
}

impl Barrier {
    fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Returns when all threads have called it.
    ///
    /// # Panics
    /// When another thread has panicked, so that the panic ends all of them.
    pub fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let round = self.round.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0u32;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of the pool panicked");
            // More threads than cores: let the others run.
            if spins > 2_000 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

type Job = *const (dyn Fn(Part, &Barrier) + Sync);

/// A job pointer that may cross threads: `Pool::run` outlives its use.
#[derive(Clone, Copy)]
struct SentJob(Job);
// SAFETY: the job is `Sync`, and `Pool::run` keeps it alive until all threads are done with it.
unsafe impl Send for SentJob {}

/// The running job.
struct Slot {
    job: Option<SentJob>,
    number: usize,
    /// How many threads wait for the next one without spinning.
    asleep: usize,
}

struct Shared {
    barrier: Barrier,
    slot: Mutex<Slot>,
    /// The number of the last job, to spin on.
    latest: AtomicUsize,
    wake: Condvar,
    done: AtomicUsize,
    stop: AtomicBool,
    /// What the first thread that panicked said.
    panic: Mutex<Option<Box<dyn std::any::Any + Send>>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the next job to all threads. Those that spin see it when the lock is free, and those that sleep are woken if there are any: either
    /// would take microseconds otherwise.
    fn publish(&self, job: Option<SentJob>) {
        let (number, asleep) = {
            let mut slot = self.lock();
            slot.job = job;
            slot.number += 1;
            (slot.number, slot.asleep)
        };
        self.latest.store(number, Ordering::Release);
        if asleep > 0 {
            self.wake.notify_all();
        }
    }
}

/// A fixed number of threads, the caller's among them.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Where the threads are: a process that is forked off has none of them.
    process: u32,
}

impl Pool {
    /// `threads` in all; 0 means one per core.
    pub fn new(threads: usize) -> Pool {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let process = std::process::id();
        let shared = Arc::new(Shared {
            barrier: Barrier::new(threads),
            slot: Mutex::new(Slot { job: None, number: 0, asleep: 0 }),
            latest: AtomicUsize::new(0),
            wake: Condvar::new(),
            done: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        let spawned = (1..threads)
            .map_while(|index| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new()
                    .name(format!("pullback-{index}"))
                    .spawn(move || work(&shared, Part { index, of: threads }))
                    .ok()
            })
            .collect::<Vec<_>>();
        if spawned.len() + 1 == threads {
            return Pool { shared, threads: spawned, process };
        }
        // The system gives no more threads: run on this one rather than fail.
        drop(Pool { shared, threads: spawned, process });
        Pool::new(1)
    }

    /// How many threads.
    pub fn threads(&self) -> usize {
        self.shared.barrier.threads
    }

    /// How many bytes it holds, itself included: what threads share, and about 1 kB for the handle of each. Their stacks are
    /// the system's.
    pub fn bytes(&self) -> usize {
        size_of::<Pool>() + size_of::<Shared>() + 4 * size_of::<usize>() + 1024 * self.threads.len()
    }

    /// Runs `job` on every thread at once, and returns when all are done.
    ///
    /// # Panics
    /// When the job does, on any thread; and in a process that was forked off after the pool was made, which has not its
    /// threads and would wait for them for ever.
    pub fn run(&self, job: &(dyn Fn(Part, &Barrier) + Sync)) {
        let shared = &*self.shared;
        if self.threads.is_empty() {
            return job(Part::WHOLE, &shared.barrier);
        }
        assert!(self.process == std::process::id(), "the threads of the pool are those of another process");
        shared.done.store(0, Ordering::Relaxed);
        // SAFETY: only the lifetime changes; `run` waits below until no thread uses the job any more.
        let sent = SentJob(unsafe {
            std::mem::transmute::<*const (dyn Fn(Part, &Barrier) + Sync + '_), Job>(std::ptr::from_ref(job))
        });
        shared.publish(Some(sent));
        guarded(shared, || job(Part { index: 0, of: self.threads() }, &shared.barrier));
        let mut spins = 0u32;
        while shared.done.load(Ordering::Acquire) < self.threads.len() {
            spins += 1;
            // More threads than cores: let the others run.
            if spins > 2_000 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        if shared.barrier.broken.swap(false, Ordering::AcqRel) {
            shared.barrier.arrived.store(0, Ordering::Relaxed);
            let panic = shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
            std::panic::resume_unwind(panic.unwrap_or_else(|| Box::new("a thread of the pool panicked")));
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // There is nobody to wake or to wait for, and what the threads held when the process was forked off they hold
            // for ever.
            std::mem::forget(std::mem::take(&mut self.threads));
            return;
        }
        self.shared.stop.store(true, Ordering::Release);
        self.shared.publish(None);
        for thread in self.threads.drain(..) {
            // A thread that panicked has already told so.
            let _ = thread.join();
        }
    }
}

/// Runs a share; a panic in it breaks the barrier, so that no thread waits for it.
fn guarded(shared: &Shared, share: impl FnOnce()) {
    if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(share)) {
        let mut first = shared.panic.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(panic);
        shared.barrier.broken.store(true, Ordering::Release);
    }
}

fn work(shared: &Shared, part: Part) {
    let mut seen = 0;
    loop {
        // The next step usually follows at once: spin a little before sleeping.
        let mut spins = 0;
        while shared.latest.load(Ordering::Acquire) == seen && spins < 20_000 {
            std::hint::spin_loop();
            spins += 1;
        }
        let job = {
            let mut slot = shared.lock();
            while slot.number == seen {
                slot.asleep += 1;
                slot = shared.wake.wait(slot).unwrap_or_else(PoisonError::into_inner);
                slot.asleep -= 1;
            }
            seen = slot.number;
            slot.job
        };
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        if let Some(SentJob(job)) = job {
            // SAFETY: `Pool::run` keeps the job alive until `done` has counted this thread.
            let job = unsafe { &*job };
            guarded(shared, || job(part, &shared.barrier));
        }
        shared.done.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_does_its_part_between_barriers() {
        for threads in [1, 2, 3, 7] {
            let pool = Pool::new(threads);
            let counts: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            for _ in 0..50 {
                pool.run(&|part, barrier| {
                    for i in part.range(100, 8) {
                        counts[i].fetch_add(1, Ordering::Relaxed);
                    }
                    barrier.wait();
                    // Everything of the first phase is there in the second.
                    let first = counts[0].load(Ordering::Relaxed);
                    assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == first));
                    barrier.wait();
                });
            }
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 50));
        }
    }

    #[test]
    fn a_panic_ends_the_job_and_not_the_pool() {
        let pool = Pool::new(3);
        for at in 0..3 {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pool.run(&|part, barrier| {
                    assert!(part.index != at, "on purpose");
                    barrier.wait();
                });
            }));
            assert!(result.is_err());
            pool.run(&|_, barrier| barrier.wait());
        }
    }

    #[test]
    fn parts_cover_everything_once() {
        for count in [0, 1, 31, 32, 33, 1000] {
            for of in [1, 2, 7] {
                let mut next = 0;
                for index in 0..of {
                    let range = Part { index, of }.range(count, 32);
                    assert_eq!(range.start, next);
                    next = range.end;
                }
                assert_eq!(next, count);
            }
        }
    }
}
