// Joins concurrent calls into one call. A batch gathers for one event-loop turn, and on while every turn brings more, a
// few milliseconds at most: under load that spares commits, and without load a lone call waits for nothing. While a
// batch is under way the next one gathers; one that is full need not wait, where several may be under way.
import type { Clock } from './clock.ts'

export interface BatcherOptions<Item, Answer> {
  clock: Clock
  /** The most that one batch weighs; an item that weighs more is a batch of its own. */
  size: number
  /** How many batches may be under way, all but one of them full; one unless said. */
  atOnce?: number
  /** What an item weighs. */
  weigh(item: Item): number
  /** Answers one item each, in order; when it throws, every item of the batch is rejected. */
  run(items: Item[]): Promise<Answer[]>
}

/** How long a batch that keeps growing gathers. */
const GATHER_MS = 3

/** Who waits for an answer. */
interface Asker<Answer> {
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>
  #waiting: Item[] = []
  /** Who asked for each of them; null: nobody waits for its answer. */
  readonly #askers: (Asker<Answer> | null)[] = []
  /** What those that wait weigh. */
  #weight = 0
  #gathers = false
  #underWay = 0

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options
  }

  /** How many calls wait for an answer that no batch has taken up yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => this.#add(item, { resolve, reject }))
  }

  /** Adds an item whose answer nobody waits for. What `run` throws for it is a defect, and nobody catches it. */
  push(item: Item): void {
    this.#add(item, null)
  }

  #add(item: Item, asker: Asker<Answer> | null): void {
    this.#waiting.push(item)
    this.#askers.push(asker)
    this.#weight += this.#options.weigh(item)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#gathers || this.#waiting.length === 0 || !this.#mayBegin()) return
    this.#gathers = true
    this.#gather(this.#options.clock.mono())
  }

  #mayBegin(): boolean {
    const { atOnce = 1, size } = this.#options
    return this.#underWay === 0 || (this.#underWay < atOnce && this.#weight >= size)
  }

  #gather(since: number): void {
    const before = this.#waiting.length
    this.#options.clock.turn(() => {
      const grows = this.#waiting.length > before && this.#weight < this.#options.size
      if (grows && this.#options.clock.mono() - since < GATHER_MS) this.#gather(since)
      else void this.#drain()
    })
  }

  /** Takes the first item, and more while the batch stays within its weight. */
  #take(): Item[] {
    let [count, weight] = [0, 0]
    for (const item of this.#waiting) {
      const more = weight + this.#options.weigh(item)
      if (count > 0 && more > this.#options.size) break
      weight = more
      count += 1
    }
    this.#weight -= weight
    return this.#waiting.splice(0, count)
  }

  async #drain(): Promise<void> {
    const items = this.#take()
    const askers = this.#askers.splice(0, items.length)
    this.#gathers = false
    this.#underWay += 1
    this.#schedule()
    try {
      const answers = await this.#options.run(items)
      askers.forEach((asker, index) => asker?.resolve(answers[index] as Answer))
    } catch (error) {
      for (const asker of askers) asker?.reject(error)
      if (askers.includes(null)) throw error
    } finally {
      this.#underWay -= 1
      this.#schedule()
    }
  }
}
