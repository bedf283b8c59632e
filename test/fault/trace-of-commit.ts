// Traces the system calls of a server while ticks are posted, and looks in the trace for the sync of the log
// between the read of each request and the write of its 202.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ServerProcess } from './server-process.ts'
import { Witness } from './witness.ts'

export const canTrace = spawnSync('strace', ['-V']).status === 0

const CALLS = 'trace=read,readv,recvfrom,fsync,fdatasync,write,writev,sendto'

export interface TracedPost {
  item: string
  /** Whether a sync of the store's log lies between its request and its 202. */
  synced: boolean
}

/** Posts ticks one by one to a traced server; answers what the trace says of each. */
export async function traceCommits(posts: number): Promise<TracedPost[]> {
  await using witness = await Witness.create()
  const trace = join(dirname(witness.file), 'trace.txt')
  const under = ['strace', '-f', '-y', '-s', '600', '-e', CALLS, '-o', trace]
  const server = await ServerProcess.start({ file: witness.file, under })
  const items = Array.from({ length: posts }, (_, index) => `traced-${index}.`)
  for (const item of items) await server.post(item, Date.now() + 3_600_000)
  await server.terminate()
  const lines = readFileSync(trace, 'utf8').split('\n')
  return items.map((item) => ({ item, synced: isSynced(lines, item) }))
}

const READ = /\b(?:read|readv|recvfrom)(?:\(| resumed>)/
const ANSWER = /\b(?:write|writev|sendto)\(.*HTTP\/1\.1 202/
const SYNC = /\bf(?:data)?sync\(\d+<[^>]*-wal>\) += 0$/
const SYNC_BEGUN = /^(\d+) .*\bf(?:data)?sync\(\d+<[^>]*-wal> <unfinished/
const SYNC_ENDED = /^(\d+) .*\bf(?:data)?sync resumed>.* = 0$/

/** Whether the trace has a finished sync of the write-ahead log between the request for an item and its 202. */
export function isSynced(lines: readonly string[], item: string): boolean {
  const read = lines.findIndex((line) => READ.test(line) && line.includes(item))
  const answer = lines.findIndex((line, index) => index > read && ANSWER.test(line) && line.includes(item))
  if (read === -1 || answer === -1) return false
  const between = lines.slice(read + 1, answer)
  if (between.some((line) => SYNC.test(line))) return true
  const begun = between.map((line) => SYNC_BEGUN.exec(line)?.[1]).filter((thread) => thread !== undefined)
  return between.some((line) => begun.includes(SYNC_ENDED.exec(line)?.[1] ?? ''))
}
