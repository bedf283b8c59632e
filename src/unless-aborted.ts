// The answer of a call, unless a signal fires before: the call goes on, and what it answers concerns nobody.

export function unlessAborted<Answer>(call: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const end = (): void => signal.removeEventListener('abort', abort)
    call.then(
      (answer) => {
        end()
        resolve(answer)
      },
      (error: unknown) => {
        end()
        reject(error as Error)
      },
    )
  })
}
