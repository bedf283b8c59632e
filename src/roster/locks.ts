// Named locks for users: one holder at a time, a token that grows, and a signal for when it is lost. A lock is a lease:
// who must be sure fences its effects with the token.
import { checkOptions, optionTable } from '../check-options.ts'
import type { Clock } from '../clock.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import type { LockStore } from './store.ts'
import { Trust } from './trust.ts'

/** Options of `race.lock`. */
export interface LockOptions {
  /** How long it outlives a holder that does not renew it; default 30 s. */
  ttl?: Duration
  /** How long to wait for another holder; default 0. */
  wait?: Duration
  /** Ends the waiting. */
  signal?: AbortSignal
}

const LOCK = optionTable<LockOptions>('a lock', { ttl: 'duration', wait: 'duration', signal: 'signal' })

export interface LocksParts {
  store: { locks: LockStore }
  clock: Clock
}

const TTL_MS = 30_000
const SHORTEST_TTL_MS = 100
/** How often a lock that another holds is asked for. */
const ASK_MS = 100

export class Locks {
  readonly #parts: LocksParts
  readonly #held = new Set<Lock>()
  readonly #closed = new AbortController()

  constructor(parts: LocksParts) {
    this.#parts = parts
  }

  /** Gives back what is held, and ends all waiting. */
  async close(): Promise<void> {
    this.#closed.abort()
    // What cannot be given back expires.
    await Promise.allSettled([...this.#held].map((lock) => lock.release()))
  }

  /** Takes the lock, within the time to wait; null: another held it all along, or this was closed. */
  async take(name: string, options: LockOptions): Promise<Lock | null> {
    checkOptions(options, LOCK)
    const { clock, store } = this.#parts
    const ttlMs = options.ttl === undefined ? TTL_MS : toMs(options.ttl)
    refuseShort(name, ttlMs)
    const end = clock.mono() + (options.wait === undefined ? 0 : toMs(options.wait))
    const { signal: closed } = this.#closed
    const signal = options.signal === undefined ? closed : AbortSignal.any([closed, options.signal])
    const holder = clock.id()
    for (;;) {
      const sent = { mono: clock.mono(), wall: clock.now() }
      const held = await store.locks.acquire({ name, holder, ttlMs })
      if (held !== null) return this.#keep({ name, holder, ttlMs, token: held.token, sent })
      if (clock.mono() >= end || signal.aborted) return null
      // At random, so that of many who wait none is always late.
      const pauseMs = ASK_MS * (0.5 + clock.random())
      await clock.sleep(Math.min(pauseMs, Math.max(0, end - clock.mono())), signal)
    }
  }

  async #keep(grip: Grip): Promise<Lock | null> {
    const lock = new Lock(this.#parts, grip)
    this.#held.add(lock)
    void lock.ended.then(() => this.#held.delete(lock))
    if (!this.#closed.signal.aborted) return lock
    await lock.release()
    return null
  }
}

interface Grip {
  name: string
  holder: string
  ttlMs: number
  token: number
  sent: { mono: number; wall: number }
}

/** A named lock that this member holds: what `race.lock(name)` answers. */
export class Lock {
  readonly name: string
  /** Higher than that of every holder before: hand it on with effects outside, and refuse lower ones there. */
  readonly token: number
  readonly #parts: LocksParts
  readonly #grip: Grip
  readonly #trust: Trust
  readonly #lost = new AbortController()
  readonly #released = new AbortController()
  /** Resolves when it is renewed no more: it was released, or lost. */
  readonly ended: Promise<void>
  #renewing: Promise<unknown> = Promise.resolve()

  constructor(parts: LocksParts, grip: Grip) {
    this.name = grip.name
    this.token = grip.token
    this.#parts = parts
    this.#grip = grip
    this.#trust = new Trust(parts.clock, (grip.ttlMs * 5) / 6)
    this.#trust.renew(grip.sent)
    this.ended = this.#keep()
  }

  /** Fires when the lock is lost: it could not be renewed in time, or another holds it. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Whether it may be believed to be held. */
  get isHeld(): boolean {
    return !this.#lost.signal.aborted && !this.#released.signal.aborted && this.#trust.holds
  }

  /** Gives it back; harmless when repeated, or when it is lost. */
  async release(): Promise<void> {
    if (this.#released.signal.aborted) return
    this.#released.abort()
    const { clock, store } = this.#parts
    const { name, holder, ttlMs } = this.#grip
    // A renewal that lands after it would take the lock anew, for nobody.
    const answered = new AbortController()
    await Promise.race([this.#renewing, clock.sleep(ttlMs / 4, answered.signal)])
    answered.abort()
    await store.locks.release(name, holder)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** Renews it three times in its life, until it is released or lost. */
  async #keep(): Promise<void> {
    const { clock } = this.#parts
    const { ttlMs } = this.#grip
    while (!this.#released.signal.aborted && !this.#lost.signal.aborted) {
      await clock.sleep(ttlMs / 3, this.#released.signal)
      if (this.#released.signal.aborted) return
      const renewed = this.#renew()
      this.#renewing = Promise.all([this.#renewing, renewed])
      await Promise.race([renewed, clock.sleep(ttlMs / 4, this.#released.signal)])
      if (!this.#released.signal.aborted && !this.#trust.holds) this.#lost.abort()
    }
  }

  async #renew(): Promise<void> {
    const { clock, store } = this.#parts
    const { name, holder, ttlMs, token } = this.#grip
    const sent = { mono: clock.mono(), wall: clock.now() }
    try {
      const held = await store.locks.acquire({ name, holder, ttlMs })
      if (held?.token === token) this.#trust.renew(sent)
      else this.#lost.abort()
    } catch {
      // The next one may succeed while it still can be believed.
    }
  }
}

function refuseShort(name: string, ttlMs: number): void {
  if (ttlMs >= SHORTEST_TTL_MS) return
  throw new HeadraceError(
    'invalid_input',
    `the ttl of the lock ${name} is ${ttlMs} ms, and at least ${SHORTEST_TTL_MS} ms are needed`,
    { remedy: 'give a longer ttl' },
  )
}
