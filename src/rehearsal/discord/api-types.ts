/** The part of the API's objects that the rehearsal builds. Ids are snowflakes as text. */
export interface ApiUser {
  id: string
  username: string
  discriminator: string
  global_name: string | null
  avatar: null
  bot?: true
}

/** 0 text, 1 DM, 3 group DM, 5 announcements, 11 public thread, 12 private thread, 15 forum, 16 media. */
export type ApiChannelType = 0 | 1 | 3 | 5 | 11 | 12 | 15 | 16

export interface ApiChannel {
  id: string
  type: ApiChannelType
  name?: string
  guild_id?: string
  parent_id?: string | null
  position?: number
  permission_overwrites?: readonly object[]
  last_message_id: string | null
  recipients?: readonly ApiUser[]
  owner_id?: string
  message_count?: number
  member_count?: number
  thread_metadata?: {
    archived: boolean
    auto_archive_duration: number
    archive_timestamp: string
    create_timestamp: string
    locked: boolean
  }
}

export interface ApiAttachment {
  id: string
  filename: string
  size: number
  url: string
  proxy_url: string
  content_type?: string
}

export interface ApiRow {
  readonly type: 1
  readonly components: readonly ApiButton[]
}

export interface ApiButton {
  readonly type: 2
  readonly style: number
  readonly label: string
  readonly custom_id: string
}

export interface ApiMessage {
  id: string
  /** 0 default, 19 reply, 21 the first of a thread, with the message where it began; others are service messages. */
  type: number
  channel_id: string
  author: ApiUser
  content: string
  timestamp: string
  edited_timestamp: string | null
  tts: boolean
  mention_everyone: boolean
  mentions: readonly ApiUser[]
  mention_roles: readonly string[]
  attachments: readonly ApiAttachment[]
  embeds: readonly object[]
  pinned: boolean
  /** Rows of buttons. */
  components: readonly ApiRow[]
  nonce?: string | number
  webhook_id?: string
  flags?: number
  /** Type 0 is a reply, type 1 a forward. */
  message_reference?: { type: 0 | 1; message_id: string; channel_id: string; guild_id?: string }
  message_snapshots?: readonly ApiSnapshot[]
  referenced_message?: ApiMessage | null
}

/** A forwarded message as it was then, without its author. */
export interface ApiSnapshot {
  message: Pick<
    ApiMessage,
    'type' | 'content' | 'timestamp' | 'edited_timestamp' | 'mentions' | 'mention_roles' | 'attachments' | 'embeds'
  >
}

export interface ApiRole {
  id: string
  name: string
  permissions: string
  position: number
  color: number
  hoist: boolean
  managed: boolean
  mentionable: boolean
  flags: number
  tags?: { bot_id: string }
}

export interface ApiGuild {
  id: string
  name: string
  owner_id: string
}
