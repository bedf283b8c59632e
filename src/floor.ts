// Which Node is too old: on those promises and streams are missed in the middle of the work, and nothing would say so.
// Imports nothing and uses nothing new, so that it can be read by the Node that it refuses.

/** As in `engines` of package.json. */
export const FLOOR = '22.13'

/** What to say to a Node of this version; null: it is new enough. */
export function refuseNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = FLOOR.split('.').map(Number)
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return null
  return `headrace needs Node ${FLOOR} or newer, and this is Node ${version}: install a newer one from https://nodejs.org`
}
