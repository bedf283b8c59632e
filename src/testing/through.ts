// A store of which every call goes through a function of one's own: to delay it, to refuse it, to lose its answer.
import type { Store } from '../store.ts'

/** Makes a call, or does not; `path` names it, such as `pool.entries.put`, and `given` is what it was given. */
export type Around = (path: string, call: () => Promise<unknown>, given: unknown[]) => Promise<unknown>

/** `watch` is left as it is, since it is no call. */
export function through(store: Store, around: Around): Store {
  return wrapAll(store, '', around) as Store
}

function wrapAll(port: object, path: string, around: Around): object {
  const names = new Set([...Object.keys(port), ...methodsOf(port)])
  return Object.fromEntries([...names].map((name) => [name, wrap(port, name, `${path}${name}`, around)]))
}

function wrap(port: object, name: string, path: string, around: Around): unknown {
  const value: unknown = Reflect.get(port, name)
  if (typeof value === 'object' && value !== null) return wrapAll(value, `${path}.`, around)
  if (typeof value !== 'function') return value
  if (name === 'watch') return value.bind(port) as unknown
  return (...given: unknown[]) =>
    around(path, () => Reflect.apply(value, port, given) as Promise<unknown>, given)
}

function methodsOf(port: object): string[] {
  const prototype: unknown = Object.getPrototypeOf(port)
  if (prototype === null || prototype === Object.prototype) return []
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor')
}
