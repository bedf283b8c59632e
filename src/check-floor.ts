// Imported first by every entry point: a Node that is too old is refused before anything else runs.
import { refuseNode } from './floor.ts'

const refusal = refuseNode(process.versions.node)
if (refusal !== null) throw new Error(refusal)
