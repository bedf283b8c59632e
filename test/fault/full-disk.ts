// A disk that fills up, on a tmpfs of 48 MB: load until there is no room, a look around while it is full, then
// more room, and a verdict. Needs root, for the mount.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Load } from './load.ts'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

const DISK_MB = 48
const LARGER_DISK_MB = 256
const CONNECTIONS = 50
const PAYLOAD = 'x'.repeat(8000)
const FULL_WITHIN_MS = 60_000
const RECOVER_WITHIN_MS = 30_000

export const canMount = process.getuid?.() === 0

export interface FilledDisk extends Verdict {
  seed: number
  /** Codes of the answers that were no 202, with their counts. */
  refusals: Record<string, number>
  whileFull: {
    alive: boolean
    livez: number
    readyz: number
    /** What /readyz says of the store. */
    store: string
    /** Status of a read of the topic, and of a read of the pool. */
    reads: number[]
  }
  /** From more room to the next accepted post. */
  recoveredMs: number
}

export async function fillDisk(progress: (text: string) => void = () => undefined): Promise<FilledDisk> {
  await using disk = await SmallDisk.mount()
  await using witness = await Witness.create({ folder: disk.folder })
  await using server = await ServerProcess.start({ file: witness.file })
  const { history } = witness
  const next = () => ({ ...witness.next(), payload: PAYLOAD })
  const load = new Load({ port: server.port, connections: CONNECTIONS, next, history })
  const count = (code: string): number => history.filter((post) => post.code === code).length
  await until('the disk is full', () => count('store_full') > 20 * CONNECTIONS, FULL_WITHIN_MS)
  progress(`full after ${history.length} posts`)
  const whileFull = await lookAround(server)
  disk.grow()
  const roomAt = performance.now()
  await until('posts are accepted again', () => acceptedAfter(witness, roomAt), RECOVER_WITHIN_MS)
  const recoveredMs = Math.round(performance.now() - roomAt)
  progress(`recovered after ${recoveredMs} ms`)
  await load.finish()
  const content = async (): Promise<boolean> => (await server.get('/readyz')).status === 200
  await until('/readyz is content', content, RECOVER_WITHIN_MS)
  const verdict = await witness.judge(server)
  return { ...verdict, seed: witness.seed, refusals: refusalsOf(witness), whileFull, recoveredMs }
}

async function lookAround(server: ServerProcess): Promise<FilledDisk['whileFull']> {
  // A pulse reports what the last writes met.
  await until(
    '/readyz is not content',
    async () => (await server.get('/readyz')).status === 503,
    RECOVER_WITHIN_MS,
  )
  const [livez, readyz, topic, pool] = await Promise.all([
    server.get('/livez'),
    server.get('/readyz'),
    server.get('/v1/topics/ticks/partitions/0/events?from=0&limit=10'),
    server.get('/v1/ticks?limit=10'),
  ])
  const { checks } = readyz.body as { checks: { name: string; detail: string }[] }
  return {
    alive: server.running,
    livez: livez.status,
    readyz: readyz.status,
    store: checks.find(({ name }) => name === 'store')?.detail ?? '',
    reads: [topic.status, pool.status],
  }
}

function acceptedAfter({ history }: Witness, mono: number): boolean {
  return history.slice(-1000).some(({ outcome, sentAt }) => outcome === 'ok' && sentAt > mono)
}

function refusalsOf({ history }: Witness): Record<string, number> {
  const refused = history.filter(({ status }) => status !== null && status !== 202)
  const byCode = Map.groupBy(refused, ({ status, code }) => `${status} ${code}`)
  return Object.fromEntries([...byCode].map(([code, posts]) => [code, posts.length]))
}

/** A folder that holds no more than 48 MB, until it is grown. */
class SmallDisk {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async mount(): Promise<SmallDisk> {
    const folder = await mkdtemp(join(tmpdir(), 'headrace-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'headrace-fault', folder])
    return new SmallDisk(folder)
  }

  grow(): void {
    execFileSync('mount', ['-o', `remount,size=${LARGER_DISK_MB}m`, this.folder])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    execFileSync('umount', [this.folder])
    await rmdir(this.folder)
  }
}
