// What an outside collector shall put down, as text: each residue with the epoch under which the collector has it,
// `12@7,13@9`. A collector names it as it was told, so a word that comes late or twice speaks of an epoch that is gone.
// Pure. Rule [Q6] of docs/spec/roster.md.
import { HeadraceError } from '../errors.ts'
import type { Held } from '../fence.ts'

const PUT_DOWN = /^\d{1,4}@\d{1,15}(?:,\d{1,4}@\d{1,15})*$/

/** Null: nothing. */
export function printPutDown(held: readonly Held[]): string | null {
  if (held.length === 0) return null
  return held
    .toSorted((a, b) => a.partition - b.partition)
    .map(({ partition, epoch }) => `${partition}@${epoch}`)
    .join()
}

export function parsePutDown(text: string): Held[] {
  if (!PUT_DOWN.test(text)) {
    throw new HeadraceError(
      'invalid_input',
      `putDown is ${JSON.stringify(text.slice(0, 64))}, and not residues with their epochs such as 12@7,13@9`,
      { remedy: 'name the `putDown` of the last answer, or a part of it, when nothing of it is worked on' },
    )
  }
  return text.split(',').map((one) => {
    const [partition, epoch] = one.split('@')
    return { partition: Number(partition), epoch: Number(epoch) }
  })
}
