// A server's program: whether it is installed, and when it listens.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

export function runs(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export async function listens(port: number): Promise<void> {
  for (const deadline = performance.now() + 10_000; ;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    } finally {
      socket.destroy()
    }
  }
}
