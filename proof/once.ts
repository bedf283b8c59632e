// One run that several rows judge: the first row to ask starts it, the others get the same result.
import type { ProofContext } from './row.ts'

export function once<Result>(
  run: (context: ProofContext) => Promise<Result>,
): (context: ProofContext) => Promise<Result> {
  let result: Promise<Result> | null = null
  return (context) => (result ??= run(context))
}
