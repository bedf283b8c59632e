// What an outside collector must release, as text: each residue with the epoch under which the collector has it,
// `12@7,13@9`. A collector repeats the text that it received, so one that comes late or twice names an epoch that is gone.
// Pure. Rule [Q6] of docs/spec/roster.md.
import { MOST_PARTITIONS } from '../check.ts'
import { HeadraceError } from '../errors.ts'
import type { Held } from '../fence.ts'

const RELEASE = /^\d{1,4}@\d{1,15}(?:,\d{1,4}@\d{1,15})*$/

/** As many residues as a share may have, each with an epoch of 15 digits. */
export const LONGEST_RELEASE = MOST_PARTITIONS * '1023@999999999999999,'.length

/** Null: nothing. */
export function printRelease(held: readonly Held[]): string | null {
  if (held.length === 0) return null
  return held
    .toSorted((a, b) => a.partition - b.partition)
    .map(({ partition, epoch }) => `${partition}@${epoch}`)
    .join()
}

export function parseRelease(text: string): Held[] {
  if (text.length > LONGEST_RELEASE) {
    throw new HeadraceError(
      'invalid_input',
      `release has ${text.length} characters, the limit is ${LONGEST_RELEASE}`,
      { remedy: 'send the `release` of the last answer, which is never longer' },
    )
  }
  if (!RELEASE.test(text)) {
    throw new HeadraceError(
      'invalid_input',
      `release is ${JSON.stringify(text.slice(0, 64))}, and not residues with their epochs such as 12@7,13@9`,
      { remedy: 'send the `release` of the last answer, or a part of it, when nothing of it is worked on' },
    )
  }
  return text.split(',').map((one) => {
    const [partition, epoch] = one.split('@')
    return { partition: Number(partition), epoch: Number(epoch) }
  })
}

/** Those of `held` that are named with the epoch under which they are held. */
export function namedIn<One extends Held>(held: readonly One[], named: readonly Held[]): One[] {
  const nameOf = ({ partition, epoch }: Held): string => `${partition}@${epoch}`
  const names = new Set(named.map(nameOf))
  return held.filter((one) => names.has(nameOf(one)))
}
