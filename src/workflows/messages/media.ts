/** A place in the listing of a folder of object storage. */
export interface FolderPlace {
  folder: string
  /** The last key that was looked at; null at the beginning. */
  after: string | null
}

/** What a clean-up did. */
export interface CleanedFolders {
  /** Uploads that no post took: out of sight, and gone for good a day later. */
  removed: number
  /** Those among them that a post names after all. */
  restored: number
  /** Gone for good, converted copies among them. */
  deleted: number
}
