/** The name that clients under test give in their calls. */
export const USER_AGENT = 'postonce-test/1.0 (+https://postonce.test/contact)'
