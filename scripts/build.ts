// Builds dist from src: tsc for the TypeScript, a plain copy for the .sql files that stand beside it.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

rmSync(join(root, 'dist'), { recursive: true, force: true })

const compiler = join(root, 'node_modules/typescript/bin/tsc')
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)

for (const file of globSync('**/*.sql', { cwd: join(root, 'src') })) {
  cpSync(join(root, 'src', file), join(root, 'dist', file))
}
