#!/usr/bin/env node
// What `headrace` starts. A Node that is too old cannot even read the command line's imports: it is refused before they load.
import { refuseNode } from '../floor.ts'

const refusal = refuseNode(process.versions.node)
if (refusal === null) await import('./main.ts')
else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
