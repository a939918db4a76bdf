import type { Config, WebSearchSettings } from '../config/config.ts'
import type { Audio } from '../core/audio.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type { WebTools } from '../core/web.ts'
import { createReadArrived } from '../media/read-arrived.ts'
import { createKnownAddresses } from '../sessions/view/known-addresses.ts'
import type { Store } from '../store/store.ts'
import { createAudio } from '../web/audio.ts'
import { createDoor, type DoorDeps } from '../web/door.ts'
import { createSearch } from '../web/search.ts'
import { createWebAccess } from '../web/web-access.ts'

/** A test build's own names and addresses; the system's otherwise. */
export type OwnNet = Pick<DoorDeps, 'resolve' | 'landing'>

interface WebDeps {
  readonly config: Pick<Config, 'web'>
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly logger: Logger
  /** Documents of the web are kept there for as long as they are read. */
  readonly media: MediaStore
  readonly net: OwnNet
}

/** Returns the web as the tools reach it: all of it goes through one door. */
export function makeWeb({ config: { web }, store: { read }, clock, logger, media, net }: WebDeps): WebTools {
  const door = createDoor({ ...net, clock })
  const { allowedHosts = [], search } = web ?? {}
  return {
    access: createWebAccess({ door, clock, readFile: createReadArrived({ media, clock, logger }) }),
    known: createKnownAddresses(read),
    allowedHosts,
    ...(search === undefined ? {} : { search: createSearch(revealed(search), { door, clock }) }),
  }
}

/** Returns the audio endpoint behind a door of its own, with its limits; what it cannot do is absent. */
export function makeAudio({ config: { audio }, clock, net }: Pick<WebDeps, 'clock' | 'net'> & AudioDeps): Audio {
  if (audio === undefined) return {}
  const { apiKey, ...endpoint } = audio
  const { seconds, bytes: most } = endpoint.limits
  const door = createDoor({ ...net, clock, withinMs: seconds * 1_000, most })
  return createAudio({ ...endpoint, ...(apiKey ? { apiKey: apiKey.reveal() } : {}) }, door)
}

interface AudioDeps {
  readonly config: Pick<Config, 'audio'>
}

function revealed({ apiKey, ...service }: WebSearchSettings) {
  return { ...service, ...(apiKey ? { apiKey: apiKey.reveal() } : {}) }
}
