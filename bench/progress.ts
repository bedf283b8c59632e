// Progress on stderr: in a terminal one line with a bar that moves, elsewhere a line for each phase.
import { type Clock, type Timer, systemClock } from '../src/clock.ts'

export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

export interface Step {
  title: string
  seconds: number
}

const REDRAW_MS = 200
const WIDTH = 24
const CLEAR = '\r\u001b[K'

export class Progress {
  readonly #stream: ProgressStream
  readonly #clock: Clock
  readonly #totalMs: number
  #doneMs = 0
  #step: Step | null = null
  #stepBegan = 0
  #text = ''
  #timer: Timer | null = null

  constructor(steps: readonly Step[], stream: ProgressStream, clock: Clock = systemClock) {
    this.#totalMs = steps.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
    this.#stream = stream
    this.#clock = clock
  }

  /** Begins a step; the one before is over. */
  begin(step: Step): void {
    if (this.#step !== null) this.#doneMs += this.#step.seconds * 1000
    this.#step = step
    this.#stepBegan = this.#clock.mono()
    this.say('starts')
  }

  say(text: string): void {
    this.#text = `${this.#step?.title ?? ''}: ${text}`
    if (this.#stream.isTTY === true) this.#draw()
    else this.#stream.write(`${this.#text}\n`)
  }

  end(): void {
    this.#timer?.cancel()
    if (this.#stream.isTTY === true) this.#stream.write(CLEAR)
  }

  #draw(): void {
    this.#timer?.cancel()
    const line = `${formatBar(this.#share())} ${this.#text}`
    this.#stream.write(`${CLEAR}${line.slice(0, (this.#stream.columns ?? 80) - 1)}`)
    this.#timer = this.#clock.timer(REDRAW_MS, () => this.#draw(), { background: true })
  }

  /** A step that takes longer than it should waits at its end. */
  #share(): number {
    const elapsedMs = this.#clock.mono() - this.#stepBegan
    const stepMs = Math.min(elapsedMs, (this.#step?.seconds ?? 0) * 1000)
    return Math.min(1, (this.#doneMs + stepMs) / Math.max(this.#totalMs, 1))
  }
}

export function formatBar(share: number): string {
  const full = Math.round(share * WIDTH)
  const percent = String(Math.round(share * 100)).padStart(3)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent} %`
}
