// Joins the calls of one event-loop turn into one call, at most `size` items of it at a time, one under way
// at once. While a batch is under way the next one gathers: a slow store makes larger batches, not more of them.
import type { Clock } from './clock.ts'

export interface BatcherOptions<Item, Answer> {
  clock: Clock
  /** The most items in one batch. */
  size: number
  /** Answers one item each, in order; when it throws, every item of the batch is rejected. */
  run(items: Item[]): Promise<Answer[]>
}

interface Waiting<Item, Answer> {
  item: Item
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>
  #waiting: Waiting<Item, Answer>[] = []
  #scheduled = false

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options
  }

  /** How many calls wait for an answer that no batch has taken up yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#options.clock.turn(() => void this.#drain())
  }

  async #drain(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.size)
    try {
      const answers = await this.#options.run(batch.map((waiting) => waiting.item))
      batch.forEach((waiting, index) => waiting.resolve(answers[index] as Answer))
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    }
    this.#scheduled = false
    if (this.#waiting.length > 0) this.#schedule()
  }
}
