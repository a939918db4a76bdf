import type { UploadedFile } from '../uploads.ts'
import type { SessionLimit } from './gateway.ts'
import type { InteractionBook } from './interaction-book.ts'
import type { DiscordLedger } from './ledger-entries.ts'
import type { NonceBook } from './nonces.ts'
import type { Body } from './read-body.ts'
import type { DiscordWorld } from './world.ts'

/** The parts that a route uses. */
export interface RestApi {
  readonly world: DiscordWorld
  readonly ledger: DiscordLedger
  readonly nonces: NonceBook
  readonly interactions: InteractionBook
  readonly gatewayUrl: () => string
  readonly sessionLimit: () => SessionLimit
  readonly application: () => Readonly<ApplicationState>
}

/** The switches of the application's page Bot. */
export interface ApplicationState {
  messageContent: boolean
  isPublic: boolean
  requiresCodeGrant: boolean
}

/** A call that was recognised. */
export interface RestCall {
  /** The name of the route. */
  readonly method: string
  readonly path: string
  /** The ids in the path, in order. */
  readonly ids: readonly string[]
  readonly query: URLSearchParams
  readonly body: Body
  readonly files: readonly UploadedFile[]
}
