// node scripts/run.mjs FILE ARGS…: sets the checkout up, builds it if FILE is in dist, then runs FILE under the pinned Node.
// Plain JavaScript for Node 18 or newer. Prints nothing of its own unless there is something to set up.
// npm hands a signal to the shell of its script alone; `exec` in package.json puts us in that shell's place.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { buildIfChanged } from './build.mjs'
import { pinnedNode, setup } from './setup.mjs'

const [file, ...args] = process.argv.slice(2)
if (file === undefined) fail('usage: node scripts/run.mjs FILE [ARGS…]', 2)

try {
  await setup()
  if (file.startsWith('dist/')) await buildIfChanged()
} catch (error) {
  fail(error.message, 1)
}

const child = spawn(pinnedNode, [file, ...args], { stdio: 'inherit' })

process.on('SIGTERM', () => child.kill('SIGTERM'))
process.on('SIGHUP', () => child.kill('SIGHUP'))
process.on('SIGINT', () => {
  // Ctrl-C in a terminal reaches the whole process group, so the child has it already; a second one would
  // read as "stop at once".
  if (!process.stdin.isTTY) child.kill('SIGINT')
})

child.once('error', (error) => fail(`run: cannot start ${pinnedNode}: ${error.message}`, 1))
child.once('exit', (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal])
})

function fail(message, code) {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}
