// The other end of Processes.run: a process that gets its input as an argument, works, and answers its parent.

/** Runs the work of this process and sends its answer; what it throws ends the process with a message. */
export async function answerParent(work: (input: never) => Promise<unknown>): Promise<void> {
  // Without a parent there is nobody to answer.
  process.once('disconnect', () => process.exit())
  const answer = await work(JSON.parse(process.argv[2] ?? 'null') as never)
  process.send?.({ answer }, () => process.disconnect())
}

/** Tells the parent how far the work is. */
export function tellParent(progress: string): void {
  process.send?.({ progress })
}
