// npm run -s bench -- ticks|pool|work [--store NAME] [--quick] [--only a,b] [--json]: measures, and prints rows and bars.
// The result goes to stdout, progress to stderr. Exit code 8: a bar does not hold; 2: asked wrongly.
import { parseArgs } from 'node:util'
import { ask } from './ask.ts'
import { round } from './measure.ts'
import { questions as poolQuestions } from './pool.ts'
import { type BenchDocument, describeMachine, formatBench } from './present.ts'
import { Progress } from './progress.ts'
import type { Question } from './question.ts'
import { questions as tickQuestions } from './ticks.ts'
import { questions as workQuestions } from './work.ts'

const USAGE = 'npm run -s bench -- ticks|pool|work [--store NAME] [--quick] [--only a,b] [--json]'
const EXIT = { failed: 1, usage: 2, missed: 8, interrupted: 130 } as const

/** The questions of each bench, by the store that it measures. */
const BENCHES: Record<string, Record<string, readonly Question[]>> = {
  ticks: { sqlite: tickQuestions },
  pool: { postgres: poolQuestions },
  work: workQuestions,
}

interface Arguments {
  bench: string
  questions: readonly Question[]
  quick: boolean
  json: boolean
}

function readArguments(args: string[]): Arguments {
  const boolean = { type: 'boolean', default: false } as const
  const options = {
    quick: boolean,
    json: boolean,
    only: { type: 'string' },
    store: { type: 'string' },
  } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const bench = positionals[0] ?? ''
  const known = Object.hasOwn(BENCHES, bench) ? BENCHES[bench] : undefined
  if (known === undefined || positionals.length !== 1) {
    throw new Error(`Say which bench. There are: ${Object.keys(BENCHES).join(', ')}`)
  }
  const questions = questionsOf(bench, known, values.store)
  return { bench, questions: choose(questions, values.only), quick: values.quick, json: values.json }
}

/** Where a bench measures one store, that need not be named. */
function questionsOf(
  bench: string,
  stores: Record<string, readonly Question[]>,
  named: string | undefined,
): readonly Question[] {
  const known = Object.keys(stores)
  const store = named ?? (known.length === 1 ? known[0] : undefined)
  const questions = store === undefined || !Object.hasOwn(stores, store) ? undefined : stores[store]
  if (questions === undefined) throw new Error(`Say --store: the bench ${bench} measures ${known.join(', ')}`)
  return questions
}

function choose(questions: readonly Question[], only: string | undefined): readonly Question[] {
  if (only === undefined) return questions
  const wanted = only.split(',').map((letter) => letter.trim())
  const known = questions.flatMap(({ letters }) => letters)
  const unknown = wanted.filter((letter) => !known.includes(letter))
  if (unknown.length > 0) throw new Error(`There is no question ${unknown.join(', ')} of ${known.join(', ')}`)
  return questions.filter(({ letters }) => letters.some((letter) => wanted.includes(letter)))
}

async function run({ bench, questions, quick }: Arguments): Promise<BenchDocument> {
  const document: BenchDocument = {
    bench,
    quick,
    machine: await describeMachine(),
    node: process.version,
    rows: [],
    bars: [],
  }
  const steps = questions.map((question) => ({ title: question.title, seconds: question.seconds(quick) }))
  const progress = new Progress(steps, process.stderr)
  try {
    for (const [index, question] of questions.entries()) {
      progress.begin(steps[index] as (typeof steps)[number])
      const { rows, bars } = await ask(question, { quick, progress: (text) => progress.say(text) })
      document.rows.push(...rows.map((row) => ({ ...row, value: round(row.value) })))
      document.bars.push(...bars)
    }
    return document
  } finally {
    progress.end()
  }
}

function readOrRefuse(): Arguments {
  try {
    return readArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`)
    process.exit(EXIT.usage)
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(EXIT.interrupted))
const wanted = readOrRefuse()
try {
  const document = await run(wanted)
  process.stdout.write(`${wanted.json ? JSON.stringify(document, null, 2) : formatBench(document)}\n`)
  process.exitCode = document.bars.some(({ holds }) => holds === false) ? EXIT.missed : 0
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exitCode = EXIT.failed
}
