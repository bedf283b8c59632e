// Time, timers, randomness and ids come from the injected clock, so that a simulation can own them.
// queueMicrotask and process.nextTick are allowed: they order work inside one turn and take no time.
import { isSource, lineOf, type Rule } from '../rule.ts'
import { scan } from '../scan.ts'

/** Files that may use the real thing, each with the reason why it cannot do without. */
const exempt: Record<string, string> = {
  'src/clock.ts': 'it is the clock',
}

const banned = [
  /\bDate\.now\b/g,
  /\bnew Date(?:\(\s*\)|(?!\s*\(|\w))/g,
  /(?<![\w.])Date\(/g,
  /\bDate\.prototype\b/g,
  /(?<![\w.#])(?:globalThis\.)?(?:setTimeout|setInterval|setImmediate)\b/g,
  /\bMath\.random\b/g,
  /\b(?:randomUUID|randomBytes|pseudoRandomBytes|randomInt|randomFill|randomFillSync|getRandomValues)\b/g,
  /\bcrypto\.random\w*/g,
  /\bperformance\.(?:now|timeOrigin|eventLoopUtilization|mark|measure)\b/g,
  /\bscheduler\.(?:wait|yield|postTask)\b/g,
  /\bTemporal\.Now\b/g,
  /\bAtomics\.(?:wait|waitAsync)\b/g,
  /\bprocess\.(?:hrtime|uptime)\b/g,
  /\bAbortSignal\.timeout\b/g,
]

const bannedModule = /^(?:node:)?(?:timers(?:\/promises)?|perf_hooks)$/

function check({ path, text }: { path: string; text: string }): string[] {
  if (path in exempt) return []
  const { code, literals } = scan(text)
  const calls = banned
    .flatMap((pattern) => [...code.matchAll(pattern)])
    // new Date(value) also matches the rule for a bare Date( call; it only converts.
    .filter((match) => !/\bnew\s+$/.test(code.slice(0, match.index)))
    .map((match) => `line ${lineOf(code, match.index)}: ${match[0]}; use the injected clock`)
  const modules = literals
    .filter(({ value }) => bannedModule.test(value))
    .map(({ value, index }) => `line ${lineOf(text, index)}: ${value}; use the injected clock`)
  return [...calls, ...modules]
}

const bad = [
  'const now = Date.now()',
  'const now = new Date()',
  'const now = new Date',
  'const now = Date()',
  'setTimeout(run, 5)',
  'globalThis.setInterval(run, 5)',
  'const later = setImmediate',
  'const dice = Math.random()',
  "import { randomUUID } from 'node:crypto'",
  'crypto.getRandomValues(bytes)',
  'const start = performance.now()',
  'const start = process.hrtime.bigint()',
  'const [seconds] = process.hrtime()',
  'const bytes = crypto.randomBytes(8)',
  'const dice = crypto.randomOfTomorrow()',
  'const busy = performance.eventLoopUtilization()',
  'await scheduler.wait(5)',
  'const now = Temporal.Now.instant()',
  'Atomics.wait(cell, 0, 0, 5)',
  "import { setImmediate as turn } from 'timers'",
  "import { setTimeout as delay } from 'node:timers/promises'",
  'const signal = AbortSignal.timeout(5)',
  'const text = `${Date.now()}`',
]

const good = [
  'const at = new Date(value)',
  '// Date.now() would do here',
  "const text = 'setTimeout(run, 5)'",
  'clock.setTimeout(run, 5)',
  'queueMicrotask(run)',
  'process.nextTick(run)',
  'const at = Date.parse(text)',
]

const fromClock: Rule = {
  title: 'only src/clock.ts touches time, timers, randomness and ids',
  appliesTo: isSource,
  check,
  bad: bad.map((text) => ({ path: 'src/pool/taker.ts', text })),
  good: [
    ...good.map((text) => ({ path: 'src/pool/taker.ts', text })),
    { path: 'src/clock.ts', text: 'Date.now()' },
  ],
}

export const callRules = [fromClock]
