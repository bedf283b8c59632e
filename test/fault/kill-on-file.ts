// Three servers on one SQLite file, all under load: one is killed, and the others take its partitions over. Who owns what,
// since when, and what was moved after that is read from the file.
import { DatabaseSync } from 'node:sqlite'
import { untilTime } from './crew.ts'
import { Load } from './load.ts'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

export interface KilledOnFile extends Verdict {
  seed: number
  /** Of every partition of every killed server: from the kill to the first event that its next owner moved. */
  takenOverMs: number[]
}

interface Mate {
  name: string
  server: ServerProcess
  load: Load
}

const MATES = 3
const PARTITIONS = 32
const WITHIN_MS = 30_000

export async function killOnFile(
  kills: number,
  progress: (text: string) => void = () => undefined,
): Promise<KilledOnFile> {
  await using witness = await Witness.create()
  const mates = new Map<string, Mate>()
  let count = 0
  const start = async (): Promise<void> => {
    const mate = await startOne(witness, `m${++count}`)
    mates.set(mate.name, mate)
  }
  const takenOverMs: number[] = []
  try {
    for (let nth = 0; nth < MATES; nth++) await start()
    for (let nth = 0; nth < kills; nth++) {
      await until('every server has its share', () => isShared(witness.file), WITHIN_MS)
      await untilTime(performance.now() + witness.random.next() * 500)
      const victim = witness.random.pick([...mates.values()])
      mates.delete(victim.name)
      takenOverMs.push(...(await killOne(witness.file, victim)))
      await start()
      progress(`kill ${nth + 1} of ${kills}: taken over after ${Math.max(...takenOverMs)} ms at most`)
    }
    await Promise.all([...mates.values()].map(({ load }) => load.finish()))
    const verdict = await witness.judge(...[...mates.values()].map(({ server }) => server))
    return { ...verdict, seed: witness.seed, takenOverMs }
  } finally {
    for (const { server } of mates.values()) await server.kill()
  }
}

async function startOne({ file, history, next }: Witness, name: string): Promise<Mate> {
  const server = await ServerProcess.start({ file, args: ['--name', name] })
  const load = new Load({ port: server.port, connections: 20, pauseMs: 100, history, next })
  return { name, server, load }
}

/** Kills it, and waits until all that it had is another's. */
async function killOne(file: string, { name, server, load }: Mate): Promise<number[]> {
  const owned = ask(
    file,
    `select allotment.partition, owner, epoch from allotment join member on member.id = owner
     where resource = 'pool/ticks' and member.name = ?`,
    [name],
  )
  const at = Date.now()
  const killed = server.kill()
  load.hold()
  await killed
  await load.closed()
  const took: number[] = []
  for (const { partition, epoch } of owned) {
    let first: number | null = null
    const isMoved = (): boolean => (first = firstMoved(file, Number(partition), Number(epoch))) !== null
    await until(`partition ${String(partition)} is another's`, isMoved, WITHIN_MS)
    took.push(Number(first) - at)
  }
  return took
}

/** When the first event of a partition was moved under a later epoch; pool and topic have the same partitions. */
function firstMoved(file: string, partition: number, epoch: number): number | null {
  const [row] = ask(
    file,
    `select min(event.time) as time from fence join event on event.time >= fence.raised_at
       and event.partition = fence.partition join topic on topic.id = event.topic
     where fence.resource = 'pool/ticks' and topic.name = 'ticks' and fence.partition = ? and fence.epoch > ?`,
    [partition, epoch],
  )
  return (row?.['time'] ?? null) as number | null
}

/** Whether the members have equal shares, and every fence stands at the allotment. */
function isShared(file: string): boolean {
  const shares = ask(
    file,
    `select count(*) as count from allotment join member on member.id = allotment.owner
       join fence on fence.resource = allotment.resource and fence.partition = allotment.partition
         and fence.epoch = allotment.epoch and fence.owner = allotment.owner
     where allotment.resource = 'pool/ticks' and allotment.next is null group by member.id`,
    [],
  ).map(({ count }) => Number(count))
  const total = shares.reduce((sum, share) => sum + share, 0)
  return shares.length === MATES && total === PARTITIONS && Math.max(...shares) - Math.min(...shares) <= 1
}

function ask(file: string, text: string, values: (string | number)[]): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    return database.prepare(text).all(...values)
  } finally {
    database.close()
  }
}
