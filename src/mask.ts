// Addresses as they may be printed: of a store, of a server, or of something that was meant to be one. Errs on the side of
// hiding too much. Pure.

/** Parameters whose values are no secrets. */
const SHOWN = new Set(['schema', 'max', 'sslmode', 'host', 'port', 'dbname', 'mode', 'by'])

/**
 * An address without what may be a secret. A password that should have been escaped may hold `/`, `?`, `#` and `@`, so
 * all up to the last `@` counts as user and password.
 */
export function maskAddress(address: string): string {
  if (/^sqlite:(?!\/\/)/.test(address)) return address
  const [, scheme = '', slashes = ''] = /^([a-z][\w+.-]*:)?([/\\]*)/i.exec(address) ?? []
  const start = scheme + slashes
  const at = address.lastIndexOf('@')
  if (at < start.length) return maskPairs(start + maskRest(maskPort(address.slice(start.length), slashes)))
  const login = address.slice(start.length, at)
  return start + maskLogin(login, /^postgres(ql)?:\/\//i.test(start)) + maskRest(address.slice(at))
}

/** Every address with an `@` in a text, masked. */
export function maskAddressesIn(text: string): string {
  return text.replaceAll(/[a-z][\w+.-]*:[/\\]{2}\S*@\S*/gi, maskAddress)
}

/** The name before the first colon is shown; one without a password only where that is usual. */
function maskLogin(login: string, isUserUsual: boolean): string {
  if (isUserUsual && /^[\w.+-]*$/.test(login)) return login
  const [, user] = /^([\w.+-]*):/.exec(login) ?? []
  return user === undefined ? '***' : `${user}:***`
}

/** `user:password` without a host looks like a host and its port. */
function maskPort(rest: string, slashes: string): string {
  if (slashes === '') return rest
  const [authority = ''] = /^[^/?#\\]*/.exec(rest) ?? []
  const hosts = authority.split(',').map((host) => {
    const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::([^]*))?$/.exec(host) ?? []
    return /^\d*$/.test(port) ? host : `${name}:***`
  })
  return hosts.join() + rest.slice(authority.length)
}

/** From the host on: values of parameters and the fragment are hidden. */
function maskRest(rest: string): string {
  const [, path = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/.exec(rest) ?? []
  const parameters = query?.split(/[&;]/).map((parameter) => {
    const [name = '', ...value] = parameter.split('=')
    return value.length === 0 || SHOWN.has(name) ? parameter : `${name}=***`
  })
  return (
    path +
    (parameters === undefined ? '' : `?${parameters.join('&')}`) +
    (fragment === undefined ? '' : '#***')
  )
}

/** `host=db password=secret`, as other programs take it: all from the first secret on is hidden. */
function maskPairs(text: string): string {
  return text.replace(/(^|\s)(\w*(?:pass|pwd|secret|token)\w*)\s*=[^]*$/i, '$1$2=***')
}
