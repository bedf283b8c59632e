// Weeks of a cluster in virtual time: members of the product's own code, a tick a second, a crash a day. All that is kept
// is bounded, in the store as in the checker, so that memory which grows is a finding.
import { noFaults } from '../../fault.ts'
import { type Random, createRandom } from '../../random.ts'
import type { Store } from '../../store.ts'
import { openMemoryStore } from '../../stores/memory/store.ts'
import { createTelemetry } from '../../telemetry.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { DEATHS, LongMember } from './long-member.ts'
import { type LongCounts, LongWitness } from './long-witness.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export interface LongLifePlan {
  seed: number
  ms: number
  /** One crash at a drawn moment of each such time. */
  crashEveryMs: number
}

export interface LongReport extends LongCounts {
  crashes: number
  /** Puts whose member died before it had answered. */
  askedAgain: number
  violations: string[]
  hash: string
}

const MEMBERS = 3
const PARTITIONS = 32
/** The product's own default. */
const LEASE_MS = 3000
const RETENTION_MS = HOUR_MS
const REMEMBER_MS = 10 * MINUTE_MS
const PUT_EVERY_MS = 1000
/** One of so many is asked for by an id. */
const WITH_ID = 10
/** After a refusal, as a user would. */
const ASK_AGAIN_MS = 200
const LOOK_EVERY_MS = MINUTE_MS
/** Looks between two searches for what has not come. */
const JUDGE_EVERY = 10
/** How late a tick may be: a death, its judging and the takeover last two leases. */
const WITHIN_MS = 4 * LEASE_MS + MINUTE_MS
/** How many of a hundred ticks are due how far ahead at most. */
const AHEAD: readonly [percent: number, ms: number][] = [
  [10, 1],
  [40, MINUTE_MS],
  [30, HOUR_MS],
  [15, 6 * HOUR_MS],
  [5, DAY_MS],
]

/** In words. */
export const SETTINGS =
  `${MEMBERS} members, ${PARTITIONS} partitions, lease ${LEASE_MS / 1000} s, a tick a second up to a day ahead, ` +
  `topic kept ${RETENTION_MS / HOUR_MS} h, fired ticks remembered ${REMEMBER_MS / MINUTE_MS} min`

/** `openStore` is another one than memory only where a test has a broken one; `told` is called at the end of each day. */
export async function liveLong(
  plan: LongLifePlan,
  {
    openStore = openMemoryStore,
    told,
  }: { openStore?: typeof openMemoryStore; told?: (life: LongLife) => void } = {},
): Promise<LongReport> {
  const life = new LongLife(plan, openStore)
  life.begin()
  for (let passed = 0; passed < plan.ms; passed += DAY_MS) {
    await life.clock.advance(Math.min(DAY_MS, plan.ms - passed))
    told?.(life)
  }
  return life.end()
}

export class LongLife {
  readonly clock: VirtualClock
  readonly #plan: LongLifePlan
  readonly #store: Store
  readonly #witness: LongWitness
  readonly #random: Random
  readonly #members = new Set<LongMember>()
  #names = 0
  #looks = 0
  #askedAgain = 0
  #isOver = false
  crashes = 0

  constructor(plan: LongLifePlan, openStore: typeof openMemoryStore) {
    this.#plan = plan
    this.clock = new VirtualClock(plan.seed)
    this.#random = createRandom(plan.seed ^ 0x10_96)
    this.#store = openStore({ clock: this.clock, telemetry: createTelemetry('store'), faults: noFaults })
    this.#witness = new LongWitness({
      store: this.#store,
      clock: this.clock,
      partitions: PARTITIONS,
      withinMs: WITHIN_MS,
      isDead: (owner) => ![...this.#members].some(({ id }) => id === owner),
    })
  }

  get counts(): LongCounts {
    return this.#witness.counts
  }

  begin(): void {
    for (let nth = 0; nth < MEMBERS; nth += 1) this.#join()
    this.#every(PUT_EVERY_MS, () => void this.#put())
    this.#every(LOOK_EVERY_MS, () => void this.#look())
    void this.#crash()
  }

  /** Asks for nothing more, waits until what is due must have fired, and judges. */
  async end(): Promise<LongReport> {
    this.#isOver = true
    await this.clock.advance(WITHIN_MS)
    const hash = await this.#witness.judge()
    for (const member of this.#members) void member.stop()
    await this.clock.advance(MINUTE_MS)
    const { violations } = this.#witness
    return { ...this.counts, crashes: this.crashes, askedAgain: this.#askedAgain, violations, hash }
  }

  /** A minute at most, as timers are. */
  #every(ms: number, call: () => void): void {
    this.clock.timer(ms, () => {
      if (this.#isOver) return
      this.#every(ms, call)
      call()
    })
  }

  #join(): void {
    this.#names += 1
    const member = new LongMember({
      clock: this.clock,
      store: this.#store,
      options: {
        store: 'memory:',
        name: `m${this.#names}`,
        lease: LEASE_MS,
        partitions: PARTITIONS,
        retention: RETENTION_MS,
      },
      ticks: { mode: 'each', remember: REMEMBER_MS },
      died: (dead) => this.#replace(dead),
    })
    this.#members.add(member)
    void member.start()
  }

  /** One tick, asked for until it is answered, of one member after the other. */
  async #put(): Promise<void> {
    const at = this.clock.now() + this.#drawAhead()
    const item = this.#witness.ask(at)
    const hasId = this.#random.below(WITH_ID) === 0
    for (;;) {
      const serving = [...this.#members].filter(({ isServing }) => isServing)
      try {
        if (serving.length > 0) {
          await this.#random.pick(serving).put({ item, at, hasId })
          this.#witness.answered(item)
          return
        }
      } catch {
        this.#askedAgain += 1
        this.#witness.note(`${item} is asked for again`)
      }
      await this.clock.sleep(ASK_AGAIN_MS)
    }
  }

  #drawAhead(): number {
    let drawn = this.#random.below(100)
    const [, ms] = AHEAD.find(([percent]) => (drawn -= percent) < 0) ?? [0, 0]
    return this.#random.below(ms)
  }

  async #look(): Promise<void> {
    this.#looks += 1
    await this.#witness.look()
    if (this.#looks % JUDGE_EVERY === 0) this.#witness.judgeLate()
  }

  /** One in each stretch of time, at a drawn moment of it. */
  async #crash(): Promise<void> {
    const { crashEveryMs } = this.#plan
    while (!this.#isOver) {
      const waitMs = this.#random.below(crashEveryMs)
      await this.clock.sleep(waitMs)
      if (this.#isOver) return
      const moment = this.#random.pick(DEATHS)
      this.#random.pick([...this.#members]).kill(moment)
      await this.clock.sleep(crashEveryMs - waitMs)
    }
  }

  #replace(dead: LongMember): void {
    this.crashes += 1
    this.#witness.note(`${dead.id} died`)
    this.#members.delete(dead)
    this.clock.timer(1000 + this.#random.below(MINUTE_MS - 1000), () => this.#join())
  }
}
