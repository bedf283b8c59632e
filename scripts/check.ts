// npm run check: format, lint, types, tidy, unit, contract; what to run before every commit.
// With --static only the first three, for a machine that runs all tests anyway.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { add, finish, groups, print, runGroups, type Tally } from './test-groups.ts'

const root = join(import.meta.dirname, '..')
const quickGroups = ['test/tidy', 'test/unit', 'test/contract']

const staticChecks = [
  { name: 'format', command: ['oxfmt/bin/oxfmt', '--check'], remedy: 'npm run format' },
  { name: 'lint', command: ['oxlint/bin/oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['typescript/bin/tsc', '-p', 'tsconfig.json'] },
]

const total: Tally = { passed: 0, failed: 0, skipped: 0 }
for (const check of staticChecks) add(total, await runStatic(check))
if (!process.argv.includes('--static')) {
  add(total, await runGroups(groups.filter(({ folder }) => quickGroups.includes(folder))))
}
finish(total)

async function runStatic({ name, command, remedy }: (typeof staticChecks)[number]): Promise<Tally> {
  const started = performance.now()
  const [script = '', ...args] = command
  const child = spawn(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let talk = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (talk += String(data)))
  const [code] = await once(child, 'close')
  if (code !== 0) print(talk)
  if (code !== 0 && remedy !== undefined) print(`To mend it: ${remedy}`)
  print(`${name}: ${code === 0 ? 'ok' : 'failed'}, ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 }
}
