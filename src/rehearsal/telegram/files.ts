import type { NewFile, ShelvedFile } from '../file-shelf.ts'
import { ApiError } from './api-error.ts'
import type { BotApi } from './bot-api.ts'
import type { Params } from './params.ts'
import { findEntities } from './text-entities.ts'
import type { WorldState } from './world-state.ts'

/** The largest that a bot is given. */
const MOST_BYTES = 20 * 1024 * 1024

type FileField = 'photo' | 'document' | 'voice' | 'audio' | 'video' | 'animation' | 'sticker'

export interface SentFile extends NewFile {
  readonly as: FileField
  readonly caption?: string
  /** The same for all files of an album. */
  readonly album?: string
  /** More fields of the file: an emoji, a duration. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** Returns the fields of a message with a file, for the `extra` of a driver's act. */
export function fileFields(
  world: WorldState,
  { as, caption, album, more, ...file }: SentFile,
): Record<string, unknown> {
  const { name, mime, ...shelved } = world.files.put(file)
  const described = {
    ...fileOf(shelved),
    ...(as === 'photo' ? { width: 90, height: 90 } : {}),
    ...(name === undefined ? {} : { file_name: name }),
    ...(mime === undefined ? {} : { mime_type: mime }),
    ...more,
  }
  const entities = caption === undefined ? [] : findEntities(caption)
  return {
    text: undefined,
    entities: undefined,
    [as]:
      as === 'photo'
        ? [{ ...described, file_id: `${described.file_id}small`, width: 9, height: 9 }, described]
        : described,
    ...(caption === undefined ? {} : { caption }),
    ...(entities.length === 0 ? {} : { caption_entities: entities }),
    ...(album === undefined ? {} : { media_group_id: album }),
  }
}

function fileOf({ no, secret, size }: Pick<ShelvedFile, 'no' | 'secret' | 'size'>) {
  return { file_id: `AgAC${secret}`, file_unique_id: `AQAD${no}`, file_size: size }
}

/** Returns the fields of a file that a bot has sent; whoever is shown it can fetch it. */
export function uploadedFile({ files }: WorldState, file: NewFile) {
  return fileOf(files.put(file))
}

/** Says where a file is; the place is good for an hour, and for this bot. */
export function getFile({ world }: BotApi, params: Params): object {
  const file = world.files.find((one) => fileOf(one).file_id === params.file_id)
  if (file === undefined) throw new ApiError(400, 'Bad Request: wrong file_id or the file is temporarily unavailable')
  if (file.size > MOST_BYTES) throw new ApiError(400, 'Bad Request: file is too big')
  return { ...fileOf(file), file_path: pathOf(file) }
}

/** Returns the file of a path that `getFile` gave. */
export function fileAt(world: WorldState, path: string): ShelvedFile {
  const file = world.files.find((one) => pathOf(one) === path)
  if (file === undefined) throw new ApiError(404, 'Not Found')
  return file
}

function pathOf({ no, secret }: ShelvedFile): string {
  return `documents/file_${no}.${secret.slice(0, 3)}`
}
