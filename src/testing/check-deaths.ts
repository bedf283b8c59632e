// What must come of a call that names records of deaths, by a second writing of [S6], [S10] and [S11]: each death is
// recorded once, an entry runs again by the newest of its records, and a dead one goes with the last.
import { entryName } from '../pool/entry.ts'
import type { DeathRecord, RemovedDead } from '../pool/store.ts'

/** `records` are those of the pool just before the call. */
export type DeadCall = { pool: string; ids: readonly number[]; records: readonly DeathRecord[] } & (
  | { call: 'redrive'; answer: number }
  | { call: 'remove'; answer: RemovedDead }
)

export interface JudgedDead {
  /** The dead entries that live again, or are gone. */
  changed: { key: string; name: string }[]
  violations: string[]
}

export class DeathsCheck {
  /** How many records each entry has. */
  readonly #counts = new Map<string, number>()

  /** A run of an entry was settled as dead. */
  died(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  judge(record: DeadCall, isDead: (name: string) => boolean): JudgedDead {
    const byName = new Map<string, DeathRecord[]>()
    for (const death of record.records) {
      const name = entryName(death.key, death.slot)
      byName.set(name, [...(byName.get(name) ?? []), death])
    }
    const violations = this.#miscounted(byName)
    const isNamed = ({ id }: DeathRecord): boolean => record.ids.includes(id)
    const dead = [...byName].filter(([name]) => isDead(name))
    const chosen = dead.filter(([, deaths]) =>
      record.call === 'remove' ? deaths.every(isNamed) : isNamed(newestOf(deaths)),
    )
    const changed = chosen.map(([name, deaths]) => ({ key: newestOf(deaths).key, name }))
    if (record.call === 'redrive' && record.answer !== changed.length)
      violations.push(`[S10] a redrive was answered ${record.answer}, and is of ${changed.length} entries`)
    if (record.call === 'remove') {
      const { deaths, entries } = record.answer
      const named = record.records.filter(isNamed)
      for (const { key, slot } of named) this.#removed(entryName(key, slot))
      if (deaths !== named.length || entries !== changed.length)
        violations.push(
          `[S11] a remove was answered ${deaths} and ${entries}, and is of ${named.length} and ${changed.length}`,
        )
    }
    return { changed, violations }
  }

  #miscounted(byName: ReadonlyMap<string, readonly DeathRecord[]>): string[] {
    return [...new Set([...byName.keys(), ...this.#counts.keys()])].flatMap((name) => {
      const [is, should] = [byName.get(name)?.length ?? 0, this.#counts.get(name) ?? 0]
      return is === should ? [] : [`[S6] ${name} has ${is} records of death, and died ${should} times`]
    })
  }

  #removed(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) - 1)
  }
}

function newestOf(deaths: readonly DeathRecord[]): DeathRecord {
  return deaths.reduce((newest, death) => (death.id > newest.id ? death : newest))
}
