// Several servers on one PostgreSQL of their own, all under load, with the witnesses of ticks and of ownership. Who owns
// and who leads is read from the tables.
import { type Bouncer, startBouncer } from '../servers/pgbouncer.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { Audit, type OwnershipVerdict } from './audit.ts'
import { Load } from './load.ts'
import { type ServeOptions, ServerProcess, runHeadrace } from './server-process.ts'
import { postgresReader } from './store-postgres.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

export interface CrewOptions {
  /** Of each server. */
  connections?: number
  /** Between an answer and the next request of a connection. */
  pauseMs?: number
  /** How every server is started, unless its own start says otherwise. */
  serve?: Omit<ServeOptions, 'file' | 'store'>
  /** The servers reach the store through PgBouncer; the witnesses do not. */
  isBounced?: boolean
}

export interface Mate {
  name: string
  server: ServerProcess
  load: Load
}

export interface Allotted {
  partition: number
  owner: string
  /** The name of the owner; null: it is no member. */
  name: string | null
  epoch: number
  next: string | null
  moves: number
  /** Whether the fence stands at this owner and epoch. */
  raised: boolean
}

export interface CrewVerdict extends Verdict {
  seed: number
  ownership: OwnershipVerdict
  /** What the servers said of failures. */
  talk: string[]
  /** Deadlocks that the store had to break, and connections that a server has at the end, on average. */
  deadlocks: number
  connections: number
}

interface CrewParts {
  store: PostgresServer
  bouncer: Bouncer | null
  audit: Audit
  options: CrewOptions
}

const SETTLED_WITHIN_MS = 20_000
const PARTITIONS = 32

export class Crew {
  readonly store: PostgresServer
  readonly audit: Audit
  readonly witness: Witness
  readonly #options: CrewOptions
  readonly #bouncer: Bouncer | null
  readonly #mates = new Set<Mate>()
  readonly #talk: string[] = []
  #count = 0

  private constructor({ store, bouncer, audit, options }: CrewParts) {
    this.store = store
    this.audit = audit
    this.#bouncer = bouncer
    this.#options = options
    this.witness = Witness.of(postgresReader(store.url()))
  }

  /** On a fresh cluster; nobody is started. */
  static async open(options: CrewOptions = {}): Promise<Crew> {
    const store = (await startPostgres(18)) ?? (await startPostgres(15))
    if (store === null) throw new Error('there is no PostgreSQL here: npm run provision installs it')
    let bouncer: Bouncer | null = null
    try {
      if (options.isBounced === true) bouncer = await startBouncer(store)
      if (options.isBounced === true && bouncer === null) throw new Error('there is no PgBouncer here')
      const { code, talk } = await runHeadrace(['migrate', '--store', (bouncer ?? store).url()])
      if (code !== 0) throw new Error(`migrate ended with ${code}: ${talk}`)
      return new Crew({ store, bouncer, audit: await Audit.install(store), options })
    } catch (error) {
      await bouncer?.remove()
      await store.remove()
      throw error
    }
  }

  /** With members that share the work evenly, all under load. */
  static async of(size: number, options: CrewOptions = {}): Promise<Crew> {
    const crew = await Crew.open(options)
    try {
      await Promise.all(Array.from({ length: size }, () => crew.start()))
      await crew.settled()
      return crew
    } catch (error) {
      await crew[Symbol.asyncDispose]()
      throw error
    }
  }

  get mates(): Mate[] {
    return [...this.#mates]
  }

  /** One of them, by chance. */
  anyone(): Mate {
    return this.mates[this.witness.random.below(this.#mates.size)] as Mate
  }

  /** One more server, and load on it. */
  async start(serve: CrewOptions['serve'] = {}): Promise<Mate> {
    const { connections = 20, pauseMs = 100, serve: usual = {} } = this.#options
    const name = `m${++this.#count}`
    const args = [...(usual.args ?? []), ...(serve.args ?? []), '--name', name]
    const store = (this.#bouncer ?? this.store).url()
    const server = await ServerProcess.start({ ...usual, ...serve, args, store })
    const { history, next } = this.witness
    const load = new Load({ port: server.port, connections, pauseMs, history, next })
    const mate = { name, server, load }
    this.#mates.add(mate)
    return mate
  }

  /** SIGKILL; answers when the process is gone and its connections are closed. */
  async kill(mate: Mate): Promise<void> {
    const killed = mate.server.kill()
    mate.load.hold()
    this.#forget(mate)
    await killed
    await mate.load.closed()
  }

  /** SIGTERM; the load goes on as clients do, until it is told that the connection closes. */
  async terminate(mate: Mate): Promise<number | null> {
    this.#forget(mate)
    const [{ code }] = await Promise.all([mate.server.terminate(), mate.load.closed()])
    return code
  }

  #forget(mate: Mate): void {
    this.#mates.delete(mate)
    this.#talk.push(...failuresOf(mate))
  }

  /** The member that has the lease; undefined: none of those that run. */
  async leader(): Promise<Mate | undefined> {
    const [row] = await this.store.run(
      'select m.name from headrace.lease l join headrace.member m on m.id = l.member',
    )
    return this.mates.find(({ name }) => name === row?.['name'])
  }

  /** The id under which it is in the roster now. */
  async idOf({ name }: Mate): Promise<string> {
    const [row] = await this.store.run('select id from headrace.member where name = $1', [name])
    return String(row?.['id'])
  }

  async allotments(): Promise<Allotted[]> {
    const rows = await this.store.run(
      `select a.partition, a.owner, m.name, a.epoch::float8 as epoch, a.next, a.moves, f.owner is not null as raised
       from headrace.allotment a left join headrace.member m on m.id = a.owner
         left join headrace.fence f on f.resource = a.resource and f.partition = a.partition and f.epoch = a.epoch
           and f.owner = a.owner
       where a.resource = 'pool/ticks' order by a.partition`,
    )
    return rows as unknown as Allotted[]
  }

  /** Waits until those that run, and nobody else, have equal shares, and have raised every fence. */
  async settled(): Promise<void> {
    const isSettled = async (): Promise<boolean> => {
      const allotments = await this.allotments()
      const shares = this.mates.map(
        ({ name }) =>
          allotments.filter((each) => each.name === name && each.next === null && each.raised).length,
      )
      const total = shares.reduce((sum, share) => sum + share, 0)
      return total === PARTITIONS && Math.max(...shares) - Math.min(...shares) <= 1
    }
    await until('every member has its share', isSettled, SETTLED_WITHIN_MS).catch(async (error: unknown) => {
      const who = (await this.allotments()).map(
        ({ partition, name, raised }) => `${partition}:${name}${raised ? '' : '?'}`,
      )
      throw new Error(`${who.join(' ')}\n${this.mates.map(({ server }) => server.talk).join('\n')}`, {
        cause: error,
      })
    })
  }

  /** Ends the load, lets all that is due fire, and compares. */
  async judge(): Promise<CrewVerdict> {
    await Promise.all(this.mates.map(({ load }) => load.finish()))
    const verdict = await this.witness.judge(...this.mates.map(({ server }) => server))
    const ownership = await this.audit.verdict()
    const talk = [...this.#talk, ...this.mates.flatMap(failuresOf)]
    return { ...verdict, seed: this.witness.seed, ownership, talk, ...(await this.#strain()) }
  }

  async #strain(): Promise<Pick<CrewVerdict, 'deadlocks' | 'connections'>> {
    const [row] = await this.store.run(
      `select (select sum(deadlocks) from pg_stat_database) as deadlocks,
         (select count(*) from pg_stat_activity where application_name = 'headrace') as connections`,
    )
    const connections = Math.ceil(Number(row?.['connections']) / this.#mates.size)
    return { deadlocks: Number(row?.['deadlocks']), connections }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server, load } of this.#mates) {
      load.hold()
      server.signal('SIGCONT')
      await server.kill()
    }
    await this.#bouncer?.remove()
    await this.store.remove()
  }
}

/** The lines in which a server says that something failed. */
function failuresOf({ name, server }: Mate): string[] {
  const lines = server.talk.split('\n').filter((line) => /wait:|defect|deadlock|error/i.test(line))
  return lines.map((line) => `${name}: ${line}`)
}

/** Waits until a time of performance.now(). */
export async function untilTime(at: number): Promise<void> {
  await until('it is time', () => performance.now() >= at, 600_000)
}
