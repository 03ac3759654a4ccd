// Decides which requests a runner without a signing key answers, and where it may be served
// (docs/serving.md#without-a-signing-key). Called by the handler.

import { ConfigError } from '@perdure/client'

/** The part of a request that the door examines. */
export interface UnsignedRequest {
  /** Returns a header; undefined if the request has none of that name. */
  header(name: string): string | undefined
  /** The host that the caller named, with or without a port. */
  host: string | undefined
  /** The address of the caller, if the transport knows it. */
  remoteAddress: string | undefined
}

interface Refusal {
  readonly status: number
  readonly message: string
}

const REMEDY = 'Set ENGINE_SIGNING_KEY here and on the engine'
const OR_ALLOW = `${REMEDY}, or ENGINE_ALLOW_UNSIGNED=1 (allowUnsigned) to answer anyone who can connect`
/** Headers that only browsers send, for pages of any site. */
const PAGE_HEADERS = ['origin', 'sec-fetch-site']

export class UnsignedDoor {
  readonly #allowUnsigned: boolean
  /** Host names of the URLs that were registered. */
  readonly #hosts = new Set<string>()
  /** Why the runner refuses every request. */
  #closed: string | undefined

  constructor(allowUnsigned: boolean) {
    this.#allowUnsigned = allowUnsigned
  }

  /** Notes that the engine reaches the runner at `url`. Throws a ConfigError if other machines may reach it there. */
  servedAt(url: string): void {
    if (this.#closed !== undefined) throw new ConfigError(this.#closed)
    // The engine refuses the URL, and names the field.
    if (!URL.canParse(url)) return
    const { host, origin } = new URL(url)
    const hostname = hostnameOf(host)
    if (!isLoopback(hostname)) this.#requireAllowed(`its url at ${origin} is not on this machine`)
    this.#hosts.add(hostname)
  }

  /** Notes that the runner's server listens on `host`. Throws a ConfigError if other machines may connect. */
  listensOn(host: string): void {
    if (!isLoopback(hostnameOf(host))) this.#requireAllowed(`it would listen on ${host}, not only for this machine`)
  }

  /** Returns why the request is refused; undefined if it is accepted. */
  refusalOf(request: UnsignedRequest): Refusal | undefined {
    const { header, host, remoteAddress } = request
    if (this.#closed !== undefined) return { status: 403, message: this.#closed }
    if (remoteAddress !== undefined && !this.#allowUnsigned && !isLoopback(remoteAddress)) {
      return refused(`only callers on its own machine, not ${remoteAddress}. ${OR_ALLOW}`)
    }
    if (host !== undefined && !this.#isOwnHost(hostnameOf(host))) {
      return refused(`only at a loopback name or its registered url, not for the Host "${host}". ${REMEDY}`)
    }
    const page = PAGE_HEADERS.find(name => header(name) !== undefined)
    if (page !== undefined) {
      return refused(
        `no requests from web pages, and this one has the header ${page}, which only browsers send. ${REMEDY}`,
      )
    }
    const type = header('content-type')
    if (isJson(type)) return undefined
    const given = type === undefined ? 'none' : `"${type}"`
    return { status: 415, message: `The content type of an unsigned invoke must be application/json, not ${given}` }
  }

  #isOwnHost(hostname: string): boolean {
    if (isLoopback(hostname) || this.#hosts.has(hostname)) return true
    // Another process has registered the runner: this one does not know its URL.
    return this.#allowUnsigned && this.#hosts.size === 0
  }

  #requireAllowed(problem: string): void {
    if (this.#allowUnsigned) return
    this.#closed = `The runner has no signing key, and ${problem}. ${OR_ALLOW}`
    throw new ConfigError(this.#closed)
  }
}

function refused(whom: string): Refusal {
  return { status: 403, message: `Without a signing key a runner answers ${whom}` }
}

/** Whether only this machine can connect to the name or address. */
function isLoopback(host: string): boolean {
  const name = host.replace(/^::ffff:/i, '')
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
}

/** Returns the name or address of a `host:port`, in lower case, without the brackets of IPv6. */
function hostnameOf(host: string): string {
  const text = host.trim().toLowerCase()
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(text)
  if (bracketed) return bracketed[1] as string
  // More than one colon: an IPv6 address without brackets, and without a port.
  return /^[^:]*:\d*$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(;|$)/i.test(type.trim())
}
