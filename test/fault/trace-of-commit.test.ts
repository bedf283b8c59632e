// A 202 is written after the commit has reached the disk, as the kernel sees it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canTrace, isSynced, traceCommits } from './trace-of-commit.ts'

const skip = canTrace ? false : 'NOT RUN: strace is missing; npm run provision installs it'

const READ = `11 read(24<socket:[1]>, "POST /ticks HTTP/1.1\\r\\n\\r\\n{\\"item\\":\\"a.\\"}", 65536) = 80`
const SYNC = '11 fdatasync(21</x/headrace.db-wal>) = 0'
const ANSWER = `11 write(24<socket:[1]>, "HTTP/1.1 202 Accepted\\r\\n\\r\\n{\\"item\\":\\"a.\\"}", 90) = 90`

test('the log is synced between the read of every request and the write of its 202', { skip }, async () => {
  const posts = await traceCommits(20)
  assert.deepEqual(
    posts.filter(({ synced }) => !synced),
    [],
  )
})

test('a trace without a finished sync of the log between request and answer is told from one with it', () => {
  assert.ok(isSynced([READ, SYNC, ANSWER], 'a.'))
  const begun = '12 fdatasync(21</x/headrace.db-wal> <unfinished ...>'
  assert.ok(isSynced([READ, begun, '12 <... fdatasync resumed>) = 0', ANSWER], 'a.'))
  const wrong = [
    [READ, ANSWER, SYNC],
    [SYNC, READ, ANSWER],
    [READ, '11 fdatasync(21</x/headrace.db>) = 0', ANSWER],
    [READ, '11 fdatasync(21</x/headrace.db-wal>) = -1 EIO', ANSWER],
    [READ, begun, ANSWER, '12 <... fdatasync resumed>) = 0'],
    [READ, SYNC],
  ]
  for (const lines of wrong) assert.ok(!isSynced(lines, 'a.'), lines.join('\n'))
})
