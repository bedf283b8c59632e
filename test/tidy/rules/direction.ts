// Direction of imports: clock, errors, telemetry ← small things ← pure rules ← ports ← services ← headrace.ts.
// The table reads from the top; the first line whose `from` matches a file says all that it may import.
// A new folder needs a line here; a new pure file a place in `pure`, or in `shared` if it speaks of a port's types.
import { importsOf } from '../imports.ts'
import { isTypeScript, type File, type Rule } from '../rule.ts'

const foundation = /^src\/(clock|errors|telemetry)\.ts$/
const small = /^src\/(?!(headrace|membership|pool-options|overrides|why|index|store|pulse)\.)[a-z0-9-]+\.ts$/
const assembly = /^src\/(headrace|membership|pool-options|overrides|why|index)\.ts$/
const pure =
  /^src\/(pool\/(answer|back-off|behind|commands|control|cursor|describe-error|entry|in-flight|merge|payloads|reschedule|returned|settle|shares|sliding-log|lanes|limits|solitude|suspicion|evidence|turn-set|why|work-meter)|log\/(event|position|outcome)|roster\/(allot|filter|parse-filter|workers)|flow\/(demand|buffer|batch|window))\.ts$/
const port = /^src\/((pool|log|roster)\/)?store\.ts$/
/** Order, limits and words that every store has in common: pure, over the types of a port. */
const shared =
  /^src\/(pool\/(mark|order|settings|tick-event)|log\/(page|refuse)|roster\/(findings|overlap|plan|refuse|settings|share|summary))\.ts$/
/** The store as a whole, and the one service that listens to it for all others. */
const wholeStore = /^src\/(store|pulse)\.ts$/
const openStore = /^src\/stores\/open\.ts$/
const memoryStore = /^src\/stores\/memory\//
const noun = (name: string): RegExp => new RegExp(`^src/${name}/`)
const nouns = /^src\/(pool|log|roster|flow|meter)\//

interface Direction {
  from: RegExp
  may: RegExp[]
}

const directions: Direction[] = [
  { from: foundation, may: [foundation] },
  { from: small, may: [small] },
  { from: pure, may: [small, pure] },
  { from: port, may: [small, pure, port] },
  { from: wholeStore, may: [small, port] },
  { from: shared, may: [small, pure, port, shared] },
  // Ticks hand out the topic they feed, and move what is theirs; workers take what is theirs.
  {
    from: /^src\/pool\/(folding|hold|limiter|limiter-parts|runner|settler|share-keeper|sight|steps|suspects|taker|ticks|worker|worker-parts|works)\.ts$/,
    may: [small, noun('pool'), port, wholeStore, /^src\/(log\/topic|roster\/ownership)\.ts$/],
  },
  { from: noun('pool'), may: [small, noun('pool'), wholeStore] },
  { from: noun('log'), may: [small, noun('log'), wholeStore] },
  { from: noun('roster'), may: [small, noun('roster'), wholeStore] },
  { from: noun('flow'), may: [small, noun('flow'), noun('pool'), noun('log')] },
  { from: noun('meter'), may: [small, pure, noun('meter')] },
  { from: openStore, may: [small, port, noun('stores')] },
  { from: /^src\/stores\/[^/]+\.ts$/, may: [small, pure, port, shared] },
  ...['memory', 'sqlite', 'postgres', 'redis', 'kafka'].map((store) => ({
    from: noun(`stores/${store}`),
    // Files right under stores/ hold what several stores share; open.ts is not one of them.
    may: [small, pure, port, shared, noun(`stores/${store}`), /^src\/stores\/(?!open\.ts)[^/]+\.ts$/],
  })),
  { from: assembly, may: [small, assembly, wholeStore, nouns, openStore] },
  // The server speaks to the services that a Headrace hands out.
  { from: noun('server'), may: [small, assembly, wholeStore, nouns, noun('server')] },
  { from: noun('client'), may: [small, noun('client')] },
  { from: noun('otel'), may: [small, noun('otel')] },
  { from: noun('generator'), may: [small, noun('generator')] },
  {
    from: noun('cli'),
    may: [small, assembly, pure, port, shared, openStore, noun('(server|client|generator|meter|lab|cli)')],
  },
  { from: noun('lab'), may: [small, assembly, wholeStore, nouns, memoryStore, noun('(lab|testing)')] },
  { from: noun('testing'), may: [small, assembly, wholeStore, nouns, memoryStore, noun('testing')] },
  { from: /^web\//, may: [/^web\//, noun('client')] },
]

function check(file: File): string[] {
  const direction = directions.find(({ from }) => from.test(file.path))
  if (direction === undefined) return ['no line of test/tidy/rules/direction.ts says what it may import']
  return importsOf(file)
    .filter((target) => !direction.may.some((pattern) => pattern.test(target)))
    .map((target) => `must not import ${target}`)
}

const file = (path: string, specifier: string): File => ({ path, text: `import { a } from '${specifier}'` })

const importDirection: Rule = {
  title: 'imports point from services to ports to pure rules to the clock, and never back',
  appliesTo: (path) => /^(src|web)\//.test(path) && isTypeScript(path),
  check,
  bad: [
    file('src/clock.ts', './duration.ts'),
    file('src/batcher.ts', './pool/store.ts'),
    file('src/options.ts', './headrace.ts'),
    file('src/batcher.ts', './store.ts'),
    file('src/pulse.ts', './pool/ticks.ts'),
    file('src/pool/merge.ts', './store.ts'),
    file('src/pool/store.ts', './taker.ts'),
    file('src/pool/dead.ts', '../log/store.ts'),
    file('src/pool/ticks.ts', '../log/consumer.ts'),
    file('src/log/consumer.ts', '../stores/memory/log.ts'),
    file('src/meter/counters.ts', '../pool/taker.ts'),
    file('src/stores/sqlite/entries.ts', '../memory/pools.ts'),
    file('src/stores/sqlite/entries.ts', '../open.ts'),
    file('src/stores/sqlite/entries.ts', '../../pool/taker.ts'),
    file('src/headrace.ts', './stores/sqlite/entries.ts'),
    file('src/server/app.ts', '../stores/open.ts'),
    file('src/testing/contract.ts', '../stores/sqlite/entries.ts'),
    file('src/client/client.ts', '../server/app.ts'),
    file('web/pages/pools.ts', '../../src/server/app.ts'),
    file('src/unheard/of.ts', './a.ts'),
    { path: 'src/log/consumer.ts', text: "const { a } = await import(\n  '../stores/memory/log.ts')" },
    { path: 'src/log/consumer.ts', text: "export type { A } from '../server/app.ts'" },
  ],
  good: [
    file('src/clock.ts', './errors.ts'),
    file('src/pool/store.ts', './merge.ts'),
    file('src/pulse.ts', './store.ts'),
    file('src/pool/order.ts', './store.ts'),
    file('src/pool/ticks.ts', '../log/store.ts'),
    file('src/pool/taker.ts', 'fastify'),
    file('src/stores/open.ts', './sqlite/pool.ts'),
    file('src/stores/sqlite/entries.ts', '../../pool/merge.ts'),
    file('src/lab/world.ts', '../stores/memory/pools.ts'),
    file('src/server/app.ts', '../headrace.ts'),
    file('src/index.ts', './headrace.ts'),
    { path: 'src/clock.ts', text: "// import './headrace.ts'" },
  ],
}

export const directionRules = [importDirection]
