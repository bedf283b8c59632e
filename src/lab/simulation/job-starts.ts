// What is wrong with a run that starts: it is another than was taken, another of its key is not over, or one that was due
// before it was not started. Rules [X2] to [X4] of docs/spec/work.md.
import type { Run } from '../../pool/run.ts'
import type { Mark } from './job-keys.ts'
import type { Made } from './made.ts'

export interface Start {
  made: Made
  mark: Mark
  /** What its handler is told. */
  run: Pick<Run, 'tally'>
  /** The last run of its key, and whether that is being settled. */
  last: Made | undefined
  isSettling: boolean
  /** What was last started of its entry. */
  before: Mark | undefined
  /** Whether what the same take answered of its key before it needs to start no more. */
  isEarlierOver: boolean
}

export function wrongWithStart(start: Start): string[] {
  const { mark, last, isSettling, before, isEarlierOver } = start
  const { taken, earlier } = mark
  const wrong: string[] = []
  if (isAnother(start)) wrong.push('[X4] as another run than was taken')
  if (last?.ending === null) wrong.push(`[X2] and turn ${last.taken.turn} of its key runs`)
  if (last !== undefined && isSettling)
    wrong.push(`[X2] and turn ${last.taken.turn} of its key is being settled`)
  // Behind a key they start in due order; a clock that was set back, or a slow take, brings the later turn first.
  const isFirst = before !== undefined && mark.answeredAt < before.answeredAt
  if (isFirst && before.taken.turn > taken.turn && before.taken.dueAt >= taken.dueAt)
    wrong.push('[X3] and a later turn of it was started before')
  if (!isEarlierOver)
    wrong.push(`[X2] and ${earlier?.taken.slot ?? 'another'} was due before it, and was not started`)
  return wrong
}

function isAnother({ made: { taken, context }, run }: Start): boolean {
  const isMoved = context.fence.partition !== taken.partition
  return isMoved || run.tally !== taken.seen || context.attempt !== taken.attempt + 1
}
