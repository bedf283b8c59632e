// Tells the other members of cancels of what was due: a run may be under way on one of them. The last are kept in what
// steers the pool, which every worker reads when it changes. What is not written is not told: the run goes on, and its settle
// finds no turn. Rule [X24] of docs/spec/work.md.
import type { Clock } from '../clock.ts'
import type { Gate } from '../gate.ts'
import { changeControl } from './change-control.ts'
import { MOST_CANCELS, withCancels } from './control.ts'
import type { CancelledName } from './entry.ts'
import type { ControlStore } from './store.ts'
import type { Emitter } from '../telemetry.ts'

export interface CancelTellerParts {
  pool: string
  control: ControlStore
  clock: Clock
  gate: Gate
  telemetry: Emitter
}

/** The shortest time between two writes: every worker of the pool reads each. */
const EVERY_MS = 20
/** Others may write at the same time: so many tries at once, and so many times a moment later. */
const MOST_TRIES = 5
const MOST_ROUNDS = 10

export class CancelTeller {
  readonly #parts: CancelTellerParts
  #names: CancelledName[] = []
  #writtenAt = -Infinity
  #isTelling = false
  /** How many rounds in a row others came before. */
  #lostRounds = 0

  constructor(parts: CancelTellerParts) {
    this.#parts = parts
  }

  /** At once, or with others a moment later; whoever stops waits for it. */
  tell(name: CancelledName): void {
    this.#names.push(name)
    if (this.#names.length > MOST_CANCELS) this.#names.shift()
    if (!this.#isTelling) void this.#tellAll()
  }

  async #tellAll(): Promise<void> {
    const { gate, clock } = this.#parts
    this.#isTelling = true
    try {
      await gate.pass(async () => {
        while (this.#names.length > 0) {
          const waitMs = this.#writtenAt + EVERY_MS - clock.mono()
          if (waitMs > 0) await clock.sleep(waitMs)
          await this.#tellSome(this.#names.splice(0))
          this.#writtenAt = clock.mono()
        }
        this.#isTelling = false
      })
    } catch {
      this.#names = []
      this.#isTelling = false
    }
  }

  /** What the store fails for is let be; what others came before is told a moment later, with what came since. */
  async #tellSome(names: readonly CancelledName[]): Promise<void> {
    try {
      this.#lostRounds = (await this.#write(names)) ? 0 : this.#lostRounds + 1
    } catch {
      return
    }
    if (this.#lostRounds === 0) return
    if (this.#lostRounds < MOST_ROUNDS) this.#names = [...names, ...this.#names].slice(-MOST_CANCELS)
    else this.#lostRounds = 0
  }

  /** False: others wrote, every time. */
  async #write(names: readonly CancelledName[]): Promise<boolean> {
    const { control: store, pool, telemetry } = this.#parts
    const changed = await changeControl(store, {
      pool,
      mostTries: MOST_TRIES,
      decide: ({ version, control }) => {
        return { control: withCancels(control, names, version + 1), answer: true }
      },
      lost: () => telemetry.emit('control.lost', { pool, by: 'cancel' }),
    })
    return changed !== null
  }
}
