import type { AccountId, ChannelId } from '../core/ids.ts'

/** The small nouns: a part of the store port, apart only for its size. */
export interface ChannelStateReader {
  get(channel: ChannelId, account: AccountId, key: string): Promise<string | undefined>
}

export interface ChannelStateWriter {
  set(channel: ChannelId, account: AccountId, key: string, value: string): Promise<void>
}

export interface NoticeWriter {
  /** True at most once per `key` until `windowMs` have passed: "told once per burst". */
  once(key: string, at: number, windowMs: number): Promise<boolean>
}
