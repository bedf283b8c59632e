// Collectors that come, work, fall silent, lose answers and leave, chosen by a seed: at no moment do two of them work
// on one residue, and in the end every residue is worked on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, createRandom } from '../../../src/random.ts'
import type { CollectorKey, Share } from '../../../src/roster/collectors.ts'
import { type Shares, openShares, residuesOf } from './open-shares.ts'

const share = 'vms'
const PARTITIONS = 12

/** What a collector outside believes: it works on `residues` until `expiresAt`, by the store's clock. */
interface Believer {
  id: string
  residues: number[]
  epoch: number
  expiresAt: number
}

class World {
  readonly shares: Shares
  readonly random: Random
  believers: Believer[] = []
  /** What collectors have released. */
  readonly released: { key: CollectorKey; release: string }[] = []
  /** The highest epoch under which a residue was worked on. */
  readonly epochs = new Map<number, { epoch: number; by: string }>()

  constructor(shares: Shares, random: Random) {
    this.shares = shares
    this.random = random
  }

  async join(): Promise<void> {
    if (this.believers.length >= 5) return
    const { id } = await this.shares.collectors.join(share, { partitions: PARTITIONS })
    this.believers.push({ id, residues: [], epoch: 0, expiresAt: 0 })
  }

  /** Reads, and works by what it read; then releases what it must, perhaps. Any answer may be lost. */
  async read(believer: Believer): Promise<void> {
    const key = { share, id: believer.id }
    const told = await this.#call(believer, () => this.shares.collectors.read(key))
    if (told === null) return
    this.#takeOn(believer, told)
    if (told.release === null || this.random.below(3) === 0) return
    this.released.push({ key, release: told.release })
    await this.#beat(believer, told.release)
  }

  /** A heartbeat without a word; it may work by the answer from then on. */
  async heartbeat(believer: Believer): Promise<void> {
    const answer = await this.#beat(believer)
    if (answer !== null && this.random.below(2) === 0) this.#takeOn(believer, answer)
  }

  /** What somebody said some time ago comes once more. */
  async repeat(): Promise<void> {
    if (this.released.length === 0) return
    const { key, release } = this.random.pick(this.released)
    await this.shares.collectors.heartbeat(key, release).catch((error: unknown) => {
      assert.equal((error as { code?: string }).code, 'collector_unknown', String(error))
    })
  }

  async #beat(believer: Believer, ...said: string[]): Promise<Share | null> {
    const key = { share, id: believer.id }
    const answer = await this.#call(believer, () => this.shares.collectors.heartbeat(key, ...said))
    if (answer !== null) believer.expiresAt = answer.expiresAt
    return answer
  }

  async leave(believer: Believer): Promise<void> {
    this.believers = this.believers.filter((other) => other !== believer)
    await this.#call(believer, () => this.shares.collectors.leave({ share, id: believer.id }))
  }

  #takeOn(believer: Believer, { filter, epoch, expiresAt }: Share): void {
    Object.assign(believer, { residues: residuesOf(filter), epoch, expiresAt })
    for (const residue of believer.residues) {
      const last = this.epochs.get(residue)
      if (last !== undefined && last.by !== believer.id)
        assert.ok(epoch > last.epoch, 'a later holder has a higher epoch')
      this.epochs.set(residue, { epoch, by: believer.id })
    }
  }

  async #call<Answer>(believer: Believer, call: () => Promise<Answer>): Promise<Answer | null> {
    try {
      const answer = await call()
      return this.random.below(4) === 0 ? null : answer
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'collector_unknown', String(error))
      this.believers = this.believers.filter((other) => other !== believer)
      return null
    }
  }

  /** Who works on each residue now. */
  working(): number[] {
    const now = this.shares.clock.now()
    return this.believers.filter(({ expiresAt }) => now <= expiresAt).flatMap(({ residues }) => residues)
  }
}

async function step(world: World): Promise<void> {
  const { random, shares } = world
  const one = world.believers.length === 0 ? null : random.pick(world.believers)
  const choice = random.below(20)
  if (choice < 2 || one === null) await world.join()
  else if (choice < 7) await world.read(one)
  else if (choice < 13) await world.heartbeat(one)
  else if (choice < 14) await world.leave(one)
  else if (choice < 17) await world.repeat()
  await shares.clock.leap(random.below(200))
  await shares.lead()
}

for (let seed = 1; seed <= 20; seed += 1) {
  test(`[Q6] no two collectors work on one residue at once, seed ${seed}`, async () => {
    const world = new World(await openShares(), createRandom(seed))
    for (let nth = 0; nth < 600; nth += 1) {
      await step(world)
      const working = world.working()
      assert.equal(new Set(working).size, working.length, `step ${nth}: ${working.join(' ')}`)
    }
    assert.ok(world.epochs.size === PARTITIONS, 'every residue was worked on')
  })
}
