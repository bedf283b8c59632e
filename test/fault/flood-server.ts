// Floods a server that works, one flood after the other, and measures what the work suffers.
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { FLOODS } from './floods.ts'
import { spawnHeadrace } from './server-process.ts'
import { until } from './until.ts'
import type { FloodedReport } from './work-under-flood.ts'

const MAIN = join(import.meta.dirname, 'work-under-flood.ts')
const MIB = 2 ** 20
const READY_WITHIN_MS = 60_000

export interface FloodPlan {
  store: string
  /** Runs a second. */
  rate: number
  /** The part of each flood that is sent, up to 1. */
  part: number
  progress(text: string): void
}

/** What happened from the begin of a flood until a second after its end. */
export interface Flooded {
  flood: string
  answers: string
  lost: number
  runsPerSecond: number
  latenessP99Ms: number
  rssGrewMib: number
}

export async function floodServer({ store, rate, part, progress }: FloodPlan): Promise<Flooded[]> {
  const child = spawnHeadrace([store, String(rate)], { main: MAIN })
  const reports: FloodedReport[] = []
  let url = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (url === '') url = (JSON.parse(line) as { url: string }).url
    else reports.push(JSON.parse(line) as FloodedReport)
  })
  const ended = once(child, 'exit')
  /** Waits for so many further reports. */
  const reported = (count: number): Promise<void> => {
    const goal = reports.length + count
    return until(
      'the worker reports',
      () => reports.length >= goal || child.exitCode !== null,
      READY_WITHIN_MS,
    )
  }
  try {
    await until('the worker is served', () => url !== '' || child.exitCode !== null, READY_WITHIN_MS)
    // What a process grows by itself at first is not the flood's.
    await reported(part === 1 ? 50 : 15)
    const found: Flooded[] = []
    for (const { name, send } of FLOODS) {
      const from = reports.length
      const answers = await send(url, part)
      await reported(5)
      found.push({ flood: name, answers, ...measure(reports, from) })
      progress(`${name}: ${JSON.stringify(found.at(-1))}`)
    }
    return found
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

function measure(reports: readonly FloodedReport[], from: number): Omit<Flooded, 'flood' | 'answers'> {
  const during = reports.slice(from)
  const before = reports[from - 1]
  const lateness = during.flatMap((report) => report.lateness).toSorted((a, b) => a - b)
  const tookMs = (during.at(-1)?.at ?? Infinity) - (before?.at ?? 0)
  const most = during.reduce((max, { rss }) => Math.max(max, rss), 0)
  return {
    lost: (during.at(-1)?.lost ?? Infinity) - (before?.lost ?? 0),
    runsPerSecond: Math.round((1000 * lateness.length) / tookMs),
    latenessP99Ms: lateness[Math.floor(lateness.length * 0.99)] ?? Infinity,
    rssGrewMib: Math.round((most - (before?.rss ?? 0)) / MIB),
  }
}
