import type { UploadedFile } from '../uploads.ts'

/** A file on its way through the platform's steps: a place, its content, a message that shares it. */
export interface SharedFile {
  readonly id: string
  readonly name: string
  readonly length: number
  /** Proves that who sends the content is who asked for the place. */
  readonly ticket: string
  content?: UploadedFile
  shared?: { readonly channel: string; readonly ts: string }
}
