// Loaded into a server by --import: its threads fail, by an error that nobody catches, when FAIL_FILE exists.
import { existsSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env['FAIL_FILE'] ?? ''

if (!isMainThread) {
  setInterval(() => {
    if (existsSync(file)) throw new Error('planned failure')
  }, 50)
}
