import type { SessionId, TurnId } from './ids.ts'

/** The web as the tools of the agent reach it. */
export interface WebAccess {
  /**
   * Returns the address as it is fetched. Throws `invalid` for what is no web address, and `forbidden` for one that is
   * not on the public net by its words alone; others are found out when they are fetched.
   */
  read(address: string): URL
  /**
   * Fetches a page for a session, whose pages are converted by turns with those of others. Throws what `read` throws,
   * and `unavailable` in words for the model for everything that fails.
   */
  fetch(address: string, signal: AbortSignal, session: string): Promise<WebPage>
}

/**
 * The answer of an address; `url` is the one that gave it. `redirect`: it names another site, which nobody has asked
 * for. `file`: it cannot be read, for the reason `unread` in words. `cut`: there was more than is read.
 */
export type WebPage = { readonly url: string } & (
  | ({ readonly kind: 'text'; readonly type: string; readonly title?: string; readonly text: string } & Cut & Noted)
  | { readonly kind: 'image'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'file'; readonly type: string; readonly size: number; readonly unread?: string } & Cut)
  | { readonly kind: 'redirect'; readonly to: string }
)

interface Cut {
  readonly cut?: true
}

interface Noted {
  /** The page was too much to convert: its text is without form. */
  readonly plain?: true
  /** Sentences for the model: why there is less than the page shows, or that its text may be wrong. */
  readonly notes?: readonly string[]
}

export interface WebQuery {
  readonly query: string
  /** Results, 20 at most. */
  readonly count: number
}

export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly text: string
  /** Its day, or words for it, where the service says one. */
  readonly date?: string
}

/** Asks a search service. Throws `unavailable` in words for the model, with the wait where there is one. */
export type SearchWeb = (query: WebQuery, signal: AbortSignal) => Promise<readonly SearchResult[]>

/** The addresses that a turn may fetch without asking anybody. */
export interface KnownAddresses {
  /**
   * Returns true if a person of the session has written the address, or a search of this turn has listed it. What
   * merely stands in a page, in a result of a tool, or in words of the assistant or of another session is not known.
   */
  isKnown(turn: { readonly turnId: TurnId; readonly sessionId: SessionId }, url: URL): Promise<boolean>
}

/** Everything that the tools of the group `web` work with. */
export interface WebTools {
  readonly access: WebAccess
  readonly known: KnownAddresses
  /** Hosts whose pages need nobody's yes: names, or `*.example.org` for all below one. */
  readonly allowedHosts: readonly string[]
  /** Absent where no search service is configured. */
  readonly search?: SearchWeb
}

/** The name of the tool whose results list addresses. */
export const WEB_SEARCH = 'web_search'
