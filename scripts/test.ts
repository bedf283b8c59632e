// npm test [-- TEXT…]: every test that needs no root, or only the groups whose folder contains a TEXT.
import { finish, groups, print, runGroups } from './test-groups.ts'

const texts = process.argv.slice(2)
const wanted = groups.filter(
  ({ folder }) => texts.length === 0 || texts.some((text) => folder.includes(text)),
)

if (wanted.length === 0) {
  print(`No group of tests matches ${texts.join(' ')}. There are: ${groups.map((g) => g.folder).join(', ')}`)
  process.exitCode = 2
} else {
  finish(await runGroups(wanted))
}
