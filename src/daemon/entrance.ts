import type { ChannelCursor } from '../channels/adapter.ts'
import { deferred } from '../core/deferred.ts'
import type { Dispatch } from '../core/dispatch.ts'
import { redactDispatch } from '../core/redact-dispatch.ts'

/**
 * Resolves once the dispatch and the position in the platform's stream are on disk. Rejects if they could not be
 * stored.
 */
export type AcceptDispatch = (dispatch: Dispatch, position?: ChannelCursor) => Promise<void>

/**
 * The one entrance for every dispatch. It is made before the parts that hand dispatches in and the pipeline that
 * accepts them; a dispatch that comes before it is opened waits.
 */
export interface Entrance {
  readonly accept: AcceptDispatch
  /** Called once, with the function that accepts dispatches from then on. */
  open(accept: AcceptDispatch): void
}

/** `redact` takes the values of configured secrets out of a text: no row, event or prompt has them (C29). */
export function createEntrance(redact: (text: string) => string): Entrance {
  const opened = deferred()
  let current: AcceptDispatch = (dispatch, position) => opened.promise.then(() => current(dispatch, position))
  return {
    accept: (dispatch, position) => current(redactDispatch(dispatch, redact), position),
    open(accept) {
      current = accept
      opened.resolve()
    },
  }
}
