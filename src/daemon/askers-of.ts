import { askersAmong, type QuestionAsker } from '../core/asked-too-much.ts'
import { askingAuthor } from '../core/author.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Identity } from '../core/dispatch.ts'
import type { TurnId } from '../core/ids.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { StoreReader } from '../store/store.ts'

interface AskersDeps {
  readonly read: Pick<StoreReader, 'inbox'>
  readonly channels: Channels
  whoIs(this: void, author: AuthorId): Identity
}

/** Returns the function that finds whose messages a turn answers; another session's turn and a program are nobody. */
export function askersOf({ read, channels, whoIs }: AskersDeps): (turn: TurnId) => Promise<readonly QuestionAsker[]> {
  return async (turn) => {
    const rows = await read.inbox.ofTurn(turn)
    return askersAmong(
      rows.flatMap(({ dispatch }) => askingAuthor(channels, dispatch) ?? []),
      whoIs,
    )
  }
}
