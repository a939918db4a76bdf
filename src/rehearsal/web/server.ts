import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerThroughFault } from '../answering.ts'
import { FaultBook } from '../faults.ts'
import { type Answer, type ListenOptions, sendBody, startHttpServer } from '../http-server.ts'
import { Ledger } from '../ledger.ts'
import {
  type AcceptedSearch,
  type FoundPage,
  SEARCHES,
  SearchRefusal,
  type SearchRehearsal,
  type ServiceName,
} from './services.ts'

export interface SearchServerOptions extends ListenOptions {
  /** Default `rehearsal-key`; SearXNG asks for none. */
  apiKey?: string
  /** Returns the pages that a query finds. Default: none. */
  find?: (query: string) => readonly FoundPage[]
  /** Milliseconds since the epoch. Default Date.now. */
  now?: () => number
}

/** A search that was answered by the rules of its service, or the refusal of one. */
export type SearchEntry =
  | ({ readonly kind: 'search'; readonly at: number; readonly service: ServiceName } & AcceptedSearch)
  | { readonly kind: 'refused'; readonly at: number; readonly status: number; readonly message: string }
  | { readonly kind: 'skipped'; readonly at: number }

export interface SearchCall {
  readonly method: ServiceName
}

export interface SearchServer {
  /** The address that a configuration names for any of the three services. */
  readonly url: string
  readonly apiKey: string
  readonly ledger: Ledger<SearchEntry>
  readonly faults: FaultBook<SearchCall>
  /** Idempotent. */
  close(): Promise<void>
}

/** Starts a server on loopback that is SearXNG, Brave and Tavily, each at its own path. */
export async function startSearchServer(options: SearchServerOptions = {}): Promise<SearchServer> {
  const { apiKey = 'rehearsal-key', find = () => [], now = Date.now } = options
  const ledger = new Ledger<SearchEntry>((entry) => JSON.stringify(entry))
  const faults = new FaultBook<SearchCall>(now)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)

  function accepted(request: IncomingMessage, body: string, service: SearchRehearsal): AcceptedSearch {
    const url = new URL(request.url ?? '/', 'http://rehearsal')
    return service.accept({ url, headers: request.headers, body, apiKey })
  }
  function refused({ answer }: SearchRefusal): Answer {
    ledger.append({ kind: 'refused', at: now(), status: answer.status, message: String(answer.body) })
    return answer
  }
  async function handle(request: IncomingMessage, response: ServerResponse, body: Buffer | null): Promise<void> {
    const found = SEARCHES.get(`${request.method} ${request.url?.split('?')[0]}`)
    if (found === undefined) return sendBody(response, refused(new SearchRefusal(404, 'Not found')))
    const { name, service } = found
    const effect = (): Answer => {
      try {
        const search = accepted(request, String(body ?? ''), service)
        ledger.append({ kind: 'search', at: now(), service: name, ...search })
        return { status: 200, body: JSON.stringify(service.answer(search, find(search.query))) }
      } catch (error) {
        if (error instanceof SearchRefusal) return refused(error)
        throw error
      }
    }
    const fault = faults.take({ method: name })
    if (fault === undefined) return sendBody(response, effect())
    const skipped = (): void => ledger.append({ kind: 'skipped', at: now() })
    await answerThroughFault({ response, fault, closing: closing.signal, effect, skipped })
  }

  const http = await startHttpServer(options, {
    maxBodyBytes: 100_000,
    handle: (request, response, body) => void handle(request, response, body),
  })
  const close = (): Promise<void> => {
    closing.abort()
    faults.close()
    ledger.close()
    return http.close()
  }
  return { url: http.url, apiKey, ledger, faults, close }
}
