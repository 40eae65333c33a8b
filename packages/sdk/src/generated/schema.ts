// Generated from docs/openapi.json. Run "npm run sdk" after a change of the document.

export interface paths {
  '/health/live': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Check that this process is running */
    get: operations['checkLive']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/health/ready': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Check that this process can serve requests: database and indexes are available */
    get: operations['checkReady']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/health/delivery': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Check that posts can be published now; 503 lists what is missing */
    get: operations['checkDelivery']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/login': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Log in with email address and password */
    post: operations['logIn']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/admin-login': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Log in; same as `/login`, for admin frontends */
    post: operations['logInAsAdmin']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Exchange the refresh cookie for a new access token */
    post: operations['refreshSession']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/logout': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** End this session; also works with an expired access token */
    delete: operations['logOut']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/logout/all': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /**
     * End all sessions of the user immediately
     * @description API keys stay valid unless `apiKeys=true`.
     */
    delete: operations['logOutEverywhere']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/me': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the signed-in user */
    get: operations['getMe']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/request-otp': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Send a one-time code to an address; the response is the same for every address */
    post: operations['requestCode']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/verify-otp': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Verify an address with its one-time code */
    post: operations['verifyCode']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/signup': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Create an account for a verified address and log in
     * @description Requires the `verificationToken` of `verify-otp` in its cookie, in the header `X-Verification-Token`, or in the body. A body above 64 KiB, with a large avatar, requires it in the cookie or the header. Deployments without address verification reject such bodies.
     */
    post: operations['signUp']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/send-reset-email': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Send a password-reset link; the response is the same for every address */
    post: operations['requestPasswordReset']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/reset-password': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Set a new password with the token of the reset link; ends all sessions */
    post: operations['resetPassword']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/google': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Start a login with Google
     * @description Navigate the browser to this URL; the browser must store the cookie of the response.
     */
    get: operations['beginGoogleLogin']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/google/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Finish a login with Google; Google redirects the user here */
    get: operations['finishGoogleLogin']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/devices': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List devices with a session, most recently used first */
    get: operations['listDevices']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/auth/devices/{tokenId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Log out a device; its access token stops working immediately */
    delete: operations['logOutDevice']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/mastodon/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Finish connecting Mastodon; Mastodon redirects the user here */
    get: operations['finishMastodonConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/tumblr/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Finish connecting Tumblr; Tumblr redirects the user here */
    get: operations['finishTumblrConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/threads/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Finish connecting Threads; Threads redirects the user here */
    get: operations['finishThreadsConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/facebook/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Finish connecting Facebook; Facebook redirects the user here */
    get: operations['finishFacebookConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/payments/webhook': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Receive a signed event of the payment processor
     * @description Events without a matching user are acknowledged and ignored.
     */
    post: operations['receivePaymentEvent']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/notifications/stream': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Receive notifications in real time over a WebSocket
     * @description Send `{"auth": {"token": "<access token>"}}` within 10 s, or the Authorization header. After `{"event": "ready"}`, each notification arrives as `{"event": "notification", "data": {..}}`. Send the message again with a new token before the old one expires. Socket.IO 4 clients connect to `/socket.io` instead (`auth.token`, events `notification` and `auth`).
     */
    get: operations['streamNotifications']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/keys': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List the API keys, newest first */
    get: operations['listApiKeys']
    put?: never
    /**
     * Create an API key
     * @description The response is the only one that contains the key. A user can have 20 keys. Without `expiresAt` the key does not expire.
     */
    post: operations['createApiKey']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/keys/current': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the scopes of the API key that authenticates the request */
    get: operations['getCurrentApiKey']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/keys/{keyId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Delete an API key; requests with it fail immediately */
    delete: operations['deleteApiKey']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List posts
     * @description Returns a page of the caller's posts. Filters are combined. `status` accepts several values, repeated or separated by commas. A post larger than 2 MiB divided by `limit` is shortened and marked with `isShortened`.
     */
    get: operations['listPosts']
    put?: never
    /**
     * Create a post
     * @description Publishes immediately, schedules when `scheduledAt` is in the future, or saves a draft with `status: DRAFT`. An API key needs `posts:publish` for everything but a draft. A repeated request with the same idempotency key returns the first response with status 200.
     */
    post: operations['createPost']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/validate': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Check a post without creating it
     * @description Returns every error and warning that creating the post would return. Nothing is stored.
     */
    post: operations['validatePost']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/link-preview': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Preview the card of a link
     * @description Reads the page as it is now. A post reads it again shortly before its time.
     */
    get: operations['previewLink']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/counts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Count the posts of each day
     * @description Returns the number of posts by status for every day of a range of at most 400 days.
     */
    get: operations['countPosts']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/calendar': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the posts of a calendar
     * @description Returns the earliest 1000 posts of a range of at most 400 days, each in a short form.
     */
    get: operations['getCalendar']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/{postId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get a post
     * @description Includes the latest metrics of each platform. The ETag is the version of the post without them.
     */
    get: operations['getPost']
    /**
     * Replace a post
     * @description Works until a call may have sent the post. An API key needs `posts:publish` for everything but a draft. Without `scheduledAt` the post keeps its time; null publishes it now, and a past time is refused.
     */
    put: operations['replacePost']
    post?: never
    /**
     * Delete a post
     * @description Stops the deliveries that have not started; a call on its way may still be accepted. Posts that are already published stay on their platforms. The idempotency key of the post can be used again.
     */
    delete: operations['deletePost']
    options?: never
    head?: never
    /**
     * Update a post
     * @description Works until a call may have sent the post. An API key needs `posts:publish` for everything but a draft. Fields that are not sent stay unchanged, and `timezone` alone does not move the post. `status` PENDING or SCHEDULED publishes a draft. A past `scheduledAt` is refused; null publishes now.
     */
    patch: operations['updatePost']
    trace?: never
  }
  '/api/posts/{postId}/status': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the delivery status of a post
     * @description Sends an ETag, and `Retry-After` while the delivery is in progress.
     */
    get: operations['getPostStatus']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/{postId}/timeline': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the timeline of a post
     * @description Lists the newest 200 events: attempts, outcomes, waits, reconciliations and status changes. They last as long as the post.
     */
    get: operations['getPostTimeline']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/{postId}/published': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /**
     * Remove a published post from its platforms
     * @description Deletes the published posts on all accounts, or on those in `accounts`, with all posts of a thread and the comment. It goes on after the response: the entry becomes `deleted`, or `removal` says why not and what to do by hand. Can be repeated.
     */
    delete: operations['takeBackPost']
    options?: never
    head?: never
    /**
     * Edit a published post on its platforms
     * @description Replaces the text on all accounts, or on those in `accounts`. All of them are checked first: if one cannot be edited, `errors` says why, and none is. It goes on after the response: `revisions` says how far it is. An equal text changes nothing.
     */
    patch: operations['editPublishedPost']
    trace?: never
  }
  '/api/posts/{postId}/retry': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Retry failed platforms
     * @description Sends the post again to every platform that failed, also while others wait: only the parts of a thread that are not published, and a first comment that failed. If a draft took over its use of the allowance, it counts again.
     */
    post: operations['retryPost']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/{postId}/cancel': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Cancel a post
     * @description Works until a call may have sent the post: also between two attempts, while it waits for a quota or after a rate limit. With `accounts`, ends only their waiting deliveries of a post that others have already got.
     */
    post: operations['cancelPost']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/{postId}/duplicate': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Duplicate a post as a draft
     * @description Copies text, media and platforms of a post in any status into a new draft without a time. The draft counts against the plan. If the post failed or was cancelled without reaching a platform, the first duplicate is free, and the original can no longer be retried.
     */
    post: operations['duplicatePost']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/media/upload': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Request a media upload
     * @description Send the file to `uploadUrl` with PUT, then use `storageKey` in a media item of the post.
     */
    post: operations['requestMediaUpload']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/media': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List the uploaded media, newest first
     * @description Media that no post uses are deleted after a day or two. `total` includes addresses whose file was not uploaded yet.
     */
    get: operations['listMedia']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/posts/media/{mediaId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get an uploaded file
     * @description Includes the size in pixels and the duration as the file shows them.
     */
    get: operations['getMedia']
    put?: never
    post?: never
    /**
     * Delete an uploaded file
     * @description Refused while a post needs the file: a draft, a waiting post, or one that failed on some account and may be retried. Published and cancelled posts keep their media item, whose address then answers 404. The quota is freed once the upload address has expired, 15 minutes after its issue.
     */
    delete: operations['deleteMedia']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List imports, newest first */
    get: operations['listImports']
    put?: never
    /**
     * Plan an import of posts
     * @description Reads up to 10,000 posts, and stores what creating each would do: errors, warnings, and conflicts with your posts and with earlier rows. Nothing is created before `POST /api/imports/{importId}/apply`. A user can have 10 imports; they are removed after 30 days.
     */
    post: operations['planImport']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports/{importId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the state and progress of an import */
    get: operations['getImport']
    put?: never
    post?: never
    /** Delete an import; its posts stay, and no more are created */
    delete: operations['deleteImport']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports/{importId}/rows': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List the rows of an import
     * @description `status` accepts several values, repeated or separated by commas.
     */
    get: operations['listImportRows']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports/{importId}/apply': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Create the posts of an import
     * @description Creates the posts in the background; `GET /api/imports/{importId}` shows the progress. A repeated request changes nothing. An API key needs `posts:publish` unless every post is a draft. When the plan's allowance is used up, the import is paused.
     */
    post: operations['applyImport']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports/{importId}/pause': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Pause an import after its current batch of 25 rows */
    post: operations['pauseImport']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports/{importId}/resume': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Continue a paused import */
    post: operations['resumeImport']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/imports/{importId}/cancel': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** End an import; the posts that it created stay */
    post: operations['cancelImport']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/exports/posts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Download posts as an import accepts them
     * @description Scheduled posts keep their times. All other posts become drafts, so that importing the file publishes nothing a second time.
     */
    get: operations['exportPosts']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/overview': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get totals, followers and platform performance */
    get: operations['getOverview']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/timeline': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get daily engagement */
    get: operations['getTimeline']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/growth': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get daily follower counts */
    get: operations['getFollowerGrowth']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/posts/top': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the top posts; posts without the metric come last */
    get: operations['getTopPosts']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/platforms': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get totals per platform, best first */
    get: operations['getPlatformPerformance']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/heatmap': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get engagement by weekday and hour */
    get: operations['getHeatmap']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/analytics/posts/{postId}/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Refresh the metrics of a post from its platforms
     * @description Allowed once per 15 minutes, for one platform or all of them; a failed refresh does not count. Waits about five seconds and always returns the latest snapshot.
     */
    post: operations['refreshPostMetrics']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/find': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List the platform accounts of the user */
    get: operations['listPlatformConnections']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/limits': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the limits that each platform sets for a post
     * @description Where servers set their own limits, those of the default account’s server, or of the given account’s. `publications` is what that account has used.
     */
    get: operations['getPlatformLimits']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/bluesky/connect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Connect a Bluesky account with an app password */
    post: operations['connectBluesky']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/mastodon/connect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Start connecting a Mastodon account
     * @description Send the user to the returned URL within ten minutes. A browser must store the cookie of the response (`credentials: include`).
     */
    get: operations['beginMastodonConnection']
    put?: never
    /**
     * Start connecting a Mastodon account on any server
     * @description Send the user to the returned URL within ten minutes. A browser must store the cookie of the response (`credentials: include`). Without a server, the default one of this deployment is used.
     */
    post: operations['beginMastodonConnectionOnServer']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/tumblr/connect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Start connecting a Tumblr account
     * @description Send the user to the returned URL within ten minutes. A browser must store the cookie of the response (`credentials: include`).
     */
    get: operations['beginTumblrConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/threads/connect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Start connecting a Threads account
     * @description Send the user to the returned URL within ten minutes. A browser must store the cookie of the response (`credentials: include`).
     */
    get: operations['beginThreadsConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/facebook/connect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Start connecting a Facebook account
     * @description Send the user to the returned URL within ten minutes. A browser must store the cookie of the response (`credentials: include`).
     */
    get: operations['beginFacebookConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/accounts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List all connected accounts of the user
     * @description In the order of the platforms, the default account of each first.
     */
    get: operations['listAccounts']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/accounts/{accountId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /**
     * Disconnect an account
     * @description Another account of its platform becomes the default one.
     */
    delete: operations['disconnectAccount']
    options?: never
    head?: never
    /** Make an account the default of its platform, or give it a label */
    patch: operations['updateAccount']
    trace?: never
  }
  '/api/platform/accounts/{accountId}/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Check the connection of an account and update its profile
     * @description Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.
     */
    post: operations['refreshAccount']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/offers/{offerId}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the accounts that a login offers
     * @description The callback redirects with the id of the offer, which lasts ten minutes.
     */
    get: operations['getAccountOffer']
    put?: never
    /**
     * Connect accounts that a login offers
     * @description Adds the accounts one after the other. A connected one gets the new login.
     */
    post: operations['connectOfferedAccounts']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/bluesky/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Check the Bluesky connection and update the profile
     * @description Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.
     */
    get: operations['refreshBlueskyConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/bluesky/disconnect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Disconnect the Bluesky account */
    delete: operations['disconnectBluesky']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/mastodon/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Check the Mastodon connection and update the profile
     * @description Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.
     */
    get: operations['refreshMastodonConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/mastodon/disconnect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Disconnect the Mastodon account */
    delete: operations['disconnectMastodon']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/tumblr/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Check the Tumblr connection and update the profile
     * @description Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.
     */
    get: operations['refreshTumblrConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/tumblr/disconnect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Disconnect the Tumblr account */
    delete: operations['disconnectTumblr']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/threads/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Check the Threads connection and update the profile
     * @description Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.
     */
    get: operations['refreshThreadsConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/threads/disconnect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Disconnect the Threads account */
    delete: operations['disconnectThreads']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/facebook/refresh': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Check the Facebook connection and update the profile
     * @description Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.
     */
    get: operations['refreshFacebookConnection']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/platform/facebook/disconnect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Disconnect the Facebook account */
    delete: operations['disconnectFacebook']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/groups': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List the groups by name */
    get: operations['listGroups']
    put?: never
    /**
     * Create a group of accounts
     * @description A user can have 100 groups.
     */
    post: operations['createGroup']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/groups/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Read a group */
    get: operations['getGroup']
    put?: never
    post?: never
    /**
     * Delete a group
     * @description Its accounts stay connected, and posts that are already stored keep their accounts.
     */
    delete: operations['deleteGroup']
    options?: never
    head?: never
    /**
     * Change a group
     * @description Posts that are already stored keep their accounts.
     */
    patch: operations['updateGroup']
    trace?: never
  }
  '/api/slots': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the weekly slots */
    get: operations['getSlots']
    /**
     * Replace the weekly slots
     * @description Weekly times of accounts and groups, which posts with the `scheduledAt` `next-slot` take. Posts that have taken one keep their time. The slots of an account or a group end with it.
     */
    put: operations['replaceSlots']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/slots/upcoming': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List the slots of a range
     * @description Each slot with the scheduled post that takes it, in order. Slots in the past are left out.
     */
    get: operations['listUpcomingSlots']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/events': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List the events of your account, oldest first
     * @description Every event has a sequence without gaps. Store `nextAfter` with what you did, and send it as `after` to continue.
     */
    get: operations['listEvents']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/events/stream': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Follow the events of your account as Server-Sent Events
     * @description Sends the events after `after` or `Last-Event-ID`, then each new one. Without both it begins with the next event. The id of each is its sequence.
     */
    get: operations['streamEvents']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/notifications': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List notifications, newest first */
    get: operations['listNotifications']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/notifications/preferences': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get which notifications go where */
    get: operations['getNotificationPreferences']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /**
     * Switch channels of notifications on or off
     * @description Channels that are left out stay as they are.
     */
    patch: operations['changeNotificationPreferences']
    trace?: never
  }
  '/api/notifications/read-all': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /** Mark all notifications as read */
    patch: operations['markAllNotificationsRead']
    trace?: never
  }
  '/api/notifications/{id}/read': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /** Mark a notification as read */
    patch: operations['markNotificationRead']
    trace?: never
  }
  '/api/webhooks': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List the webhooks, oldest first */
    get: operations['listWebhooks']
    put?: never
    /**
     * Create a webhook
     * @description The webhook gets the events from now on. Only this response and `rotateWebhookSecret` contain the signing secret. A user can have 10 webhooks.
     */
    post: operations['createWebhook']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/webhooks/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Read a webhook */
    get: operations['getWebhook']
    put?: never
    post?: never
    /** Delete a webhook and its log */
    delete: operations['deleteWebhook']
    options?: never
    head?: never
    /**
     * Change, disable or enable a webhook
     * @description Disabling ends the pending deliveries. A webhook that is enabled again gets the events from then on; `redeliverWebhookEvents` sends the ones before.
     */
    patch: operations['updateWebhook']
    trace?: never
  }
  '/api/webhooks/{id}/rotate-secret': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Replace the signing secret
     * @description For 24 hours, deliveries carry two signatures: one with the new and one with the old secret.
     */
    post: operations['rotateWebhookSecret']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/webhooks/{id}/deliveries': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List the deliveries of the last 30 days, newest first */
    get: operations['listWebhookDeliveries']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Send an event again, with the same id */
    post: operations['redeliverWebhookDelivery']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/webhooks/{id}/redeliver': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Send all events since an instant again
     * @description The events of the feed since then are sent in their order, with the same ids, before new events.
     */
    post: operations['redeliverWebhookEvents']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/webhooks/{id}/test': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Send an event of the type `webhook.test` */
    post: operations['sendWebhookTestEvent']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/upload-url': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Request an avatar upload
     * @description Send the image to `uploadUrl` with PUT, then pass `storageUrl` to update-avatar.
     */
    post: operations['requestAvatarUpload']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/update-avatar': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Set an uploaded image as the avatar
     * @description Deletes the previously uploaded avatar.
     */
    put: operations['updateAvatar']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/delete-avatar': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Delete the avatar and use the generated one */
    delete: operations['deleteAvatar']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/change-timezone': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Change the timezone
     * @description Scheduled posts keep their instants.
     */
    put: operations['changeTimezone']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/change-hold': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    /**
     * Change how long immediate posts wait
     * @description A post that is published immediately waits this long, and can be cancelled and edited meanwhile. Posts that wait already keep their times.
     */
    put: operations['changeHold']
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/change-name': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /** Change the name */
    patch: operations['changeName']
    trace?: never
  }
  '/api/profile/change-password': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /**
     * Change the password
     * @description Ends all other sessions. Only for accounts that log in with a password.
     */
    patch: operations['changePassword']
    trace?: never
  }
  '/api/generate/captions': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/generate/captions/bluesky': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions that fit Bluesky
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateBlueskyCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/generate/captions/threads': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions that fit Threads
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateThreadsCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/generate/captions/instagram': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions that fit Instagram
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateInstagramCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/generate/captions/facebook': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions that fit Facebook
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateFacebookCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/generate/captions/mastodon': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions that fit Mastodon
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateMastodonCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/generate/captions/tumblr': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Generate captions that fit Tumblr
     * @description Counts against `limits.maxCaptionGenerations` only when captions are returned.
     */
    post: operations['generateTumblrCaptions']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/payments/create-checkout': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Create a checkout page for the Pro plan
     * @description Returns the same page while it is open. Fails with 409 ALREADY_SUBSCRIBED while a subscription exists.
     */
    post: operations['createCheckout']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/payments/billing-portal': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Open the billing portal for cards, invoices and the subscription */
    post: operations['openBillingPortal']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/payments/cancel': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Cancel the subscription at the end of the paid period
     * @description The plan stays active until then, and the user can resume it in the billing portal.
     */
    post: operations['cancelSubscription']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/payments/status': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get plan, subscription, usage and limits */
    get: operations['getSubscription']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/notifications/devices': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Register a device for push messages; it belongs to the last user who registered it */
    post: operations['registerDevice']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/firebase/save-token': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Register a browser for push messages; path of older frontends */
    post: operations['saveBrowserToken']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/notifications/devices/{token}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /** Stop push messages to a device; clients call it at logout */
    delete: operations['removeDevice']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile/export': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Download all of your data as JSON */
    get: operations['exportData']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/profile': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /**
     * Erase the account and all of its data
     * @description Blocks the account immediately and removes its data in the background. Accounts without a password need a login within the last ten minutes.
     */
    delete: operations['eraseAccount']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/get-all-users': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List all users, newest first, or a page of them with `page`, `limit` or `q` */
    get: operations['listUsers']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/update-user-plan/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /** Set a user's plan and limits without the payment processor */
    patch: operations['updateUserPlan']
    trace?: never
  }
  '/api/admin/update-user-activity/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /** Disable an account immediately, or enable it again */
    patch: operations['updateUserActivity']
    trace?: never
  }
  '/api/admin/analytics': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the number of users by kind and its monthly growth */
    get: operations['getUserStatistics']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/audit': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List changes by admins and posts they read, newest first */
    get: operations['listAuditEntries']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/posts/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get any user's post; the audit log records each read */
    get: operations['readUserPost']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/posts/{id}/timeline': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the timeline of any user's post; the audit log records each read */
    get: operations['readUserPostTimeline']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/dead-letters': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List failed metric collections with their reasons, latest first */
    get: operations['listDeadLetters']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/dead-letters/{id}/replay': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /** Retry a failed collection; success removes its dead letter */
    post: operations['replayDeadLetter']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/users/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get a user */
    get: operations['getUser']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/users/{id}/limits': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    /** Set a user's limits until the plan changes */
    patch: operations['updateUserLimits']
    trace?: never
  }
  '/api/admin/users/{id}/posts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** List any user's posts; the audit log records each read */
    get: operations['listUserPosts']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/setup': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Check each part that an operator sets up, with the next step */
    get: operations['getSetup']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/admin/queues': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get task queues with their workers, and what waits */
    get: operations['getQueues']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/status/slo': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get lateness and misses of the posts scheduled in the last 24 hours */
    get: operations['getServiceLevels']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/api/status/punctuality': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /** Get the share of punctual deliveries in each of the last 24 hours */
    get: operations['getPunctuality']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export type webhooks = Record<string, never>
export interface components {
  schemas: {
    Account: {
      _id: string
      platform: components['schemas']['Platform']
      /** @description The account's id on the platform */
      platformId: string
      server: string | null
      profile: components['schemas']['PlatformProfile']
      health: components['schemas']['ConnectionHealth']
      /** Format: date-time */
      connectedAt: string
      /** @description Whether this account is meant where only the platform is named */
      isDefault: boolean
      label: string | null
    }
    AccountChange: {
      /**
       * @description Makes this account the default of its platform
       * @enum {boolean}
       */
      isDefault?: true
      label?: string | null
    }
    AccountOffer: {
      platform: components['schemas']['Platform']
      accounts: {
        /** @description The account's id on the platform */
        platformId: string
        profile: components['schemas']['PlatformProfile']
        connected: boolean
        problem: string | null
      }[]
    }
    Acknowledgment: {
      /** @enum {boolean} */
      success: true
      message: string
    }
    AnalyticsOverview: {
      stats: {
        bestPlatform: components['schemas']['Platform'] | null
        /** @description Distinct posts published in the period */
        totalPosts: number
        totalEngagement: number
        totalImpressions: number | null
        totalReach: number | null
        avgEngagementRate: number | null
        engagementChangePercent: number | null
      }
      followers: {
        total: number | null
        breakdown: {
          bluesky?: number | null
          threads?: number | null
          instagram?: number | null
          facebook?: number | null
          mastodon?: number | null
          tumblr?: number | null
        }
        /** @description Followers by account id, where several accounts of a platform are counted */
        accounts?: {
          [key: string]: number
        }
      }
      /** @description Best first; platforms without posts are omitted */
      platformPerformance: components['schemas']['PlatformPerformance'][]
      /** @description Until now at the latest */
      period: {
        /** Format: date-time */
        start: string
        /** Format: date-time */
        end: string
      }
    }
    ApiKey: {
      id: string
      name: string
      /** @description The beginning and the last four characters of the key */
      hint: string
      scopes: components['schemas']['ApiKeyScope'][]
      /** Format: date-time */
      createdAt: string
      expiresAt: string | null
      lastUsedAt: string | null
      lastUsedNetwork: string | null
    }
    /**
     * @description `:publish`, `:draft` and `:write` include the scopes for reading the same records
     * @enum {string}
     */
    ApiKeyScope:
      | 'posts:read'
      | 'posts:draft'
      | 'posts:publish'
      | 'accounts:read'
      | 'accounts:write'
      | 'analytics:read'
      | 'events:read'
      | 'captions:generate'
      | 'notifications:read'
      | 'notifications:write'
      | 'webhooks:read'
      | 'webhooks:write'
    /**
     * @example {
     *       "skipErrors": true
     *     }
     */
    ApplyImport: {
      /** @description Leaves out rows with errors; without it, a plan with errors is refused */
      skipErrors?: boolean
      /** @description Leaves out rows with conflicts; without it, their posts are created */
      skipConflicts?: boolean
    }
    AuditEntry: {
      _id: string
      /** Format: date-time */
      at: string
      /** @description Id of the admin, or `cli` */
      actorId: string
      /** @enum {string} */
      action:
        | 'update-plan'
        | 'update-limits'
        | 'update-activity'
        | 'update-role'
        | 'replay-dead-letter'
        | 'read-post'
        | 'read-posts'
        | 'read-timeline'
      /** @description Id of the user whose record was changed or read */
      subjectId: string
      before: components['schemas']['AuditFacts']
      after: components['schemas']['AuditFacts']
      requestId: string | null
      ipAddress: string | null
    }
    AuditFacts: {
      /** @enum {string} */
      plan?: 'free' | 'pro'
      limits?: {
        maxPosts: number
        maxCaptionGenerations: number
      }
      isDisabled?: boolean
      /** @enum {string} */
      role?: 'user' | 'admin'
      /** @description The post that the admin read */
      postId?: string
      deadLetter?: {
        /** @enum {string} */
        type: 'post' | 'account'
        platform: components['schemas']['Platform']
        postId: string | null
        count: number
      }
    }
    BlueskyOptions: {
      languages?: string[]
      /** @description Content warnings */
      labels?: ('sexual' | 'nudity' | 'porn' | 'graphic-media')[]
      /** @description Who may reply: `none`, or any of the others; everyone without it */
      replyGate?: ('none' | 'mentioned' | 'following' | 'followers')[]
      /** @description The address of a Bluesky post to quote */
      quoteUrl?: string
    }
    Calendar: {
      /** @description In the order of their time */
      posts: components['schemas']['CalendarPost'][]
      /** @description False when the range has more posts. Ask for a shorter one. */
      isComplete: boolean
    }
    CalendarPost: {
      _id: string
      status: components['schemas']['PostStatus']
      scheduledAt: string | null
      /** Format: date-time */
      createdAt: string
      /** @description The first 140 characters */
      text: string
      mediaCount: number
      platforms: components['schemas']['Platform'][]
      /** @description Ids of the accounts */
      accounts: string[]
      metadata: {
        source: components['schemas']['PostSource']
        client: components['schemas']['PostClient']
      }
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
    }
    CancelPost: {
      /** @description Ends only the waiting deliveries to these accounts */
      accounts?: string[]
    }
    ChangedPublication: {
      postId: string
      status: components['schemas']['PostStatus']
      platformStatuses: components['schemas']['PlatformStatus'][]
    }
    ChangeNotificationPreferences: {
      postCreated?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      postPublished?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      postFailed?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      postWarning?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      accountLogin?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      billing?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      webhook?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
      security?: {
        list?: boolean
        push?: boolean
        mail?: boolean
      }
    }
    ChangePassword: {
      currentPassword: string
      /** @description At least 8 characters */
      newPassword: string
      /** @description True also deletes all API keys; the programs that use them stop working */
      endsApiKeys?: boolean
    }
    ChosenAccounts: {
      platformIds: string[]
      /** @description The first one takes the place of the default account */
      replace?: boolean
    }
    ConnectBluesky: {
      /** @description Handle or email address */
      identifier: string
      /** @description An app password, not the main password */
      appPassword: string
    }
    ConnectionHealth: {
      /**
       * @description `expiring` means that at most seven days are left
       * @enum {string}
       */
      status: 'active' | 'expiring' | 'expired' | 'error'
      needsReconnection: boolean
      lastError: string | null
      checkedAt: string | null
      expiresAt: string | null
    }
    ConnectMastodon: {
      /**
       * @description Name of the server, its https address or `@user@server`; absent: the default instance
       * @example mastodon.social
       */
      instance?: string
    }
    CreateApiKey: {
      /** @description 2 to 100 characters */
      name: string
      scopes: components['schemas']['ApiKeyScope'][]
      expiresAt?: string | null
    }
    CreatedApiKey: {
      id: string
      name: string
      /** @description The beginning and the last four characters of the key */
      hint: string
      scopes: components['schemas']['ApiKeyScope'][]
      /** Format: date-time */
      createdAt: string
      expiresAt: string | null
      lastUsedAt: string | null
      lastUsedNetwork: string | null
      /** @description The key. Store it now: no other response contains it. */
      key: string
    }
    CreatedPost: {
      /** @example 6824b1f7c0a9d3e5f1a2b3c4 */
      postId: string
      status: components['schemas']['PostStatus']
      scheduledAt: string | null
      dueAt: string | null
      /** @description Problems that do not reject the post but may make its delivery fail */
      warnings: components['schemas']['Problem'][]
    }
    CreateGroup: {
      /**
       * @description 1 to 60 characters, unique among your groups in any letter case
       * @example Northern brand
       */
      name: string
      /** @example #228be6 */
      color?: string
      /** @description Ids of connected accounts, which may be in several groups. A disconnected account leaves its groups. */
      accountIds?: string[]
    }
    CreatePost: {
      content: {
        /** @example Good morning, everyone */
        text: string
        /** @description At most 20; each platform has its own, lower limit */
        mediaItems?: components['schemas']['MediaItemInput'][]
        /**
         * @description Further posts of a thread, each a reply to the one before; at most 25
         * @example [
         *       {
         *         "text": "Second post of the thread"
         *       }
         *     ]
         */
        segments?: components['schemas']['SegmentInput'][]
        /** @description A comment or reply of yours below the published post. Its failure is no failure of the post. */
        firstComment?: string
        /**
         * @description On platforms that publish no `segments` or no `firstComment`: `refuse` the post (the default), `join` the texts to one post, or `skipPlatform`
         * @enum {string}
         */
        onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
        options?: components['schemas']['PostOptions']
        /**
         * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
         * @example auto
         * @example {
         *       "url": "https://example.com/article",
         *       "title": "How we built it"
         *     }
         */
        link?: components['schemas']['LinkMode'] | components['schemas']['LinkCardInput']
      }
      /**
       * @description Publishes on the default account of each. At least one platform, account or group is required. In an update, a platform that the post has only through accounts or groups means those.
       * @example [
       *       "bluesky"
       *     ]
       */
      selectedPlatforms?: components['schemas']['Platform'][]
      /** @description Ids of further accounts to publish on (`GET /api/platform/accounts`). An update of the platforms without it keeps the accounts on those that stay. */
      selectedAccounts?: string[]
      /**
       * @description Ids or names of groups (`GET /api/groups`) to publish on the accounts that they have now. An account counts once, however often it is selected. `updatePost` reads the groups that it names again, and `replacePost` only those that the post did not have.
       * @example [
       *       "Northern brand"
       *     ]
       */
      selectedGroups?: string[]
      /**
       * @description Per platform, replaces the same part of `content`
       * @example {
       *       "bluesky": {
       *         "text": "Good morning, Bluesky"
       *       }
       *     }
       */
      platformSpecificContent?: {
        bluesky?: components['schemas']['OverrideInput']
        threads?: components['schemas']['OverrideInput']
        instagram?: components['schemas']['OverrideInput']
        facebook?: components['schemas']['OverrideInput']
        mastodon?: components['schemas']['OverrideInput']
        tumblr?: components['schemas']['OverrideInput']
      }
      /** @description Per account id, replaces the same part of `platformSpecificContent` and `content` */
      accountSpecificContent?: {
        [key: string]: components['schemas']['OverrideInput']
      }
      /**
       * @description ISO 8601. A value with an offset or zone is an instant; without one it is local time in `timezone`. `next-slot` is the next free slot of the first group, account or platform of the post that has slots (`PUT /api/slots`); a draft takes none. Null publishes now. A past time publishes now in `createPost` without `past=refuse`; everything else refuses it.
       * @example 2027-05-01T09:30:00+02:00
       * @example 2027-05-01T09:30
       */
      scheduledAt?: string | null
      /**
       * @description How long an immediate post waits before it is published, in place of your setting. It can be cancelled and edited meanwhile. Drafts and scheduled posts ignore it; an update of a waiting post begins the wait anew.
       * @example 30
       */
      holdSeconds?: number
      /** @description What becomes of the post if nothing of it could be sent in time; null, as by default, sends it late */
      ifLate?: components['schemas']['IfLate'] | null
      /**
       * @description IANA timezone; the default is UTC
       * @example Europe/Berlin
       */
      timezone?: string
      /**
       * @description DRAFT prevents publication. PENDING and SCHEDULED are equivalent: `scheduledAt` decides between them.
       * @enum {string}
       */
      status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
      /** @description Idempotency key, as an alternative to the header. A repeated request with the same key and body returns the first response. */
      correlationId?: string
    }
    CreateWebhook: {
      /**
       * @description An https address of a public server on port 443, without user name, password and fragment
       * @example https://example.com/hooks/postonce
       */
      url: string
      /** @description The types of events to deliver; empty for all types */
      events?: components['schemas']['EventType'][]
      description?: string
    }
    CurrentApiKey: {
      id: string | null
      /** @description The scopes of the key and those that they include; for an access token all scopes */
      scopes: components['schemas']['ApiKeyScope'][]
    }
    DeadLetter: {
      _id: string
      /**
       * @description The failed collection: the metrics of a post, or the followers of an account
       * @enum {string}
       */
      type: 'post' | 'account'
      postId: string | null
      userId: string
      platform: components['schemas']['Platform']
      /** @description The reason of the latest failure */
      reason: string
      /** @description Number of failures */
      count: number
      /** Format: date-time */
      firstAt: string
      /** Format: date-time */
      lastAt: string
    }
    DeliveryAttempt: {
      /** Format: date-time */
      at: string
      durationMs: number
      status: number | null
      error: string | null
      response: string | null
    }
    /** @description Counts deliveries to platforms, without cancelled posts */
    DeliveryCounts: {
      total: number
      /** @description Published within `missAfterMs` of the scheduled time */
      onTime: number
      /** @description Published later than that */
      late: number
      /** @description Failed for a reason outside the user's control, including `TOO_LATE` */
      failed: number
      /** @description Not published, and the scheduled time is more than `missAfterMs` ago */
      overdue: number
      /** @description Not published yet, within `missAfterMs` */
      open: number
      /** @description Failed for a reason that only the user can fix; not a miss */
      refused: number
      /** @description Retried by the user; excluded from lateness and misses */
      retried: number
      /** @description Sum of `late`, `failed` and `overdue` */
      misses: number
      failures: {
        unauthorized?: number
        permission?: number
        rate_limited?: number
        not_found?: number
        validation?: number
        media_not_ready?: number
        media_fetch_failed?: number
        duplicate?: number
        blocked_by_platform?: number
        transient?: number
        PLATFORM_NOT_CONNECTED?: number
        PLATFORM_NOT_SUPPORTED?: number
        ACCOUNT_DISABLED?: number
        OUTCOME_UNKNOWN?: number
        MEDIA_UNAVAILABLE?: number
        TOO_LATE?: number
        SKIPPED?: number
        QUOTA_EXCEEDED?: number
        CANCELLED?: number
        INTERNAL?: number
      }
      /** @description Milliseconds from the scheduled time until the platform's response was recorded */
      lateness: {
        count: number
        p50: number | null
        p95: number | null
        p99: number | null
        max: number | null
      }
    }
    /** @enum {string} */
    DeliveryStatus: 'pending' | 'processing' | 'completed' | 'failed' | 'deleted'
    Device: {
      tokenId: string
      ipAddress: string
      userAgent: string
      /** Format: date-time */
      createdAt: string
      /**
       * Format: date-time
       * @description Time of the last token refresh, which clients make every few minutes
       */
      lastActive: string
      /** @description True for the device that sent this request */
      isCurrent: boolean
    }
    DisconnectedAccount: {
      connected: boolean
      /** @description Posts that were moved to another account */
      movedPosts: number
      /** @description The first 100 posts and drafts for the account. They fail with PLATFORM_NOT_CONNECTED unless it is connected again or they are moved */
      waitingPosts: {
        postId: string
        /** @enum {string} */
        status:
          'DRAFT' | 'PENDING' | 'SCHEDULED' | 'PROCESSING' | 'COMPLETED' | 'PARTIAL_SUCCESS' | 'FAILED' | 'CANCELLED'
        scheduledAt: string | null
      }[]
      waitingTotal: number
    }
    EditPublished: {
      content: {
        /**
         * @description Replaces the text of the published post, of a thread that of its first post. Everything else stays.
         * @example Good morning, everyone
         */
        text: string
      }
      /** @description Edits it only on these accounts, by their ids */
      accounts?: string[]
    }
    EmailAddress: {
      /** Format: email */
      email: string
    }
    /** @description Every error of the API has this body */
    Error: {
      /** @enum {boolean} */
      success: false
      message: string
      statusCode: number
      code: components['schemas']['ErrorCode']
      requestId: string
      /** @description All problems with the input */
      errors?: components['schemas']['Problem'][]
      /** @description With a plan limit: the amount used */
      usage?: number
      /** @description With a plan limit: the amount allowed */
      limit?: number
      /** @description With `INSUFFICIENT_SCOPE`: the scope that the API key lacks */
      scope?: string
      /** @description With a rate limit: its name */
      bucket?: string
      /** @description With `EVENTS_EXPIRED`: the first sequence that is stored */
      oldest?: number
      /** @description With `EVENTS_EXPIRED`: the last sequence */
      latest?: number
      /** @description With `MEDIA_IN_USE`: up to 20 posts that need the file; with `POST_LIMIT_REACHED`: the draft that has the share of the post */
      postIds?: string[]
      /** @description With a health route: the missing dependencies */
      missing?: string[]
    }
    /** @enum {string} */
    ErrorCode:
      | 'VALIDATION_FAILED'
      | 'BAD_REQUEST'
      | 'INVALID_MEDIA_TYPE'
      | 'INVALID_CREDENTIALS'
      | 'UNAUTHORIZED'
      | 'PLATFORM_CREDENTIALS_INVALID'
      | 'PLATFORM_NOT_CONNECTED'
      | 'PLATFORM_NOT_SUPPORTED'
      | 'NO_FAILED_PLATFORMS'
      | 'OTP_INVALID'
      | 'ADDRESS_NOT_VERIFIED'
      | 'RESET_TOKEN_INVALID'
      | 'INCORRECT_PASSWORD'
      | 'PASSWORD_NOT_SUPPORTED'
      | 'CAPTION_REFUSED'
      | 'IDEMPOTENCY_KEYS_DIFFER'
      | 'WEBHOOK_INVALID'
      | 'NO_BILLING_ACCOUNT'
      | 'NO_ACTIVE_SUBSCRIPTION'
      | 'NO_SUBSCRIPTION_ID'
      | 'ALREADY_CANCELLING'
      | 'FORBIDDEN'
      | 'ACCOUNT_DISABLED'
      | 'FRESH_LOGIN_REQUIRED'
      | 'SESSION_REQUIRED'
      | 'INSUFFICIENT_SCOPE'
      | 'POST_LIMIT_REACHED'
      | 'CAPTION_LIMIT_REACHED'
      | 'UPLOAD_QUOTA_REACHED'
      | 'ACCOUNT_LIMIT_REACHED'
      | 'API_KEY_LIMIT_REACHED'
      | 'GROUP_LIMIT_REACHED'
      | 'IMPORT_LIMIT_REACHED'
      | 'WEBHOOK_LIMIT_REACHED'
      | 'NOT_FOUND'
      | 'METHOD_NOT_ALLOWED'
      | 'REQUEST_TIMEOUT'
      | 'POST_NOT_EDITABLE'
      | 'POST_IN_PROGRESS'
      | 'NOTHING_PUBLISHED'
      | 'RECONNECT_REQUIRED'
      | 'IMPORT_STATE'
      | 'IMPORT_HAS_ERRORS'
      | 'ACCOUNT_ALREADY_CONNECTED'
      | 'ADDRESS_TAKEN'
      | 'GROUP_NAME_TAKEN'
      | 'OWN_ACCOUNT'
      | 'ALREADY_SUBSCRIBED'
      | 'WEBHOOK_DISABLED'
      | 'MEDIA_IN_USE'
      | 'EVENTS_EXPIRED'
      | 'PRECONDITION_FAILED'
      | 'PAYLOAD_TOO_LARGE'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'IDEMPOTENCY_MISMATCH'
      | 'LINK_UNREADABLE'
      | 'MEDIA_UNREADABLE'
      | 'UPGRADE_REQUIRED'
      | 'RATE_LIMITED'
      | 'HEADERS_TOO_LARGE'
      | 'INTERNAL'
      | 'PAYMENT_SESSION_FAILED'
      | 'BILLING_PORTAL_FAILED'
      | 'PLATFORM_UNAVAILABLE'
      | 'CAPTION_PROVIDER_FAILED'
      | 'PAYMENTS_UNAVAILABLE'
      | 'SERVICE_UNAVAILABLE'
    Event: {
      /** @description The same in the feed, its stream and webhooks */
      id: string
      /** @description The place in the feed of the user, without gaps */
      sequence: number
      type: components['schemas']['EventType']
      /** Format: date-time */
      timestamp: string
      /** @description Depends on the type, see docs/guide/events.md */
      data: {
        [key: string]: unknown
      }
    }
    EventList: {
      events: components['schemas']['Event'][]
      /** @description The value of `after` for the next page */
      nextAfter: number
      /** @description True when the feed goes on after `nextAfter`, with events of any type */
      hasMore: boolean
      /** @description The first sequence that is stored; one more than `latest` when none is */
      oldest: number
      /** @description The last sequence of the feed; 0 before the first event */
      latest: number
    }
    /** @enum {string} */
    EventType:
      | 'post.created'
      | 'post.scheduled'
      | 'post.published'
      | 'post.partial'
      | 'post.failed'
      | 'post.cancelled'
      | 'post.deleted'
      | 'delivery.accepted'
      | 'delivery.failed'
      | 'delivery.unknown'
      | 'delivery.deleted'
      | 'delivery.edited'
      | 'account.connected'
      | 'account.expiring'
      | 'account.expired'
      | 'account.disconnected'
      | 'plan.changed'
      | 'analytics.collected'
    /** @enum {string} */
    FailureCode:
      | 'unauthorized'
      | 'permission'
      | 'rate_limited'
      | 'not_found'
      | 'validation'
      | 'media_not_ready'
      | 'media_fetch_failed'
      | 'duplicate'
      | 'blocked_by_platform'
      | 'transient'
      | 'PLATFORM_NOT_CONNECTED'
      | 'PLATFORM_NOT_SUPPORTED'
      | 'ACCOUNT_DISABLED'
      | 'OUTCOME_UNKNOWN'
      | 'MEDIA_UNAVAILABLE'
      | 'TOO_LATE'
      | 'SKIPPED'
      | 'QUOTA_EXCEEDED'
      | 'CANCELLED'
      | 'INTERNAL'
    GenerateCaptions: {
      /** @description The topic of the captions */
      prompt: string
      /** @description Base64 data URLs of PNG, JPEG or WebP images */
      media?: string[]
      /** @description The current text of the post */
      text?: string
      /** @description For example professional, casual, friendly, funny or excited */
      tone?: string
    }
    GeneratedCaptions: {
      /**
       * @description `template` when no caption provider is configured: phrases around the words of the request
       * @enum {string}
       */
      provider: 'model' | 'template'
      captions: string[]
      /** @description Usage of the plan, including this request */
      usage: {
        used: number
        limit: number
      }
    }
    Group: {
      id: string
      /**
       * @description 1 to 60 characters, unique among your groups in any letter case
       * @example Northern brand
       */
      name: string
      /** @example #228be6 */
      color: string
      /** @description Ids of connected accounts, which may be in several groups. A disconnected account leaves its groups. */
      accountIds: string[]
      /** Format: date-time */
      createdAt: string
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
    }
    HostedPage: {
      /** @description Page of the payment processor; send the user there */
      url: string
    }
    /**
     * @example {
     *       "action": "skip",
     *       "afterMinutes": 60
     *     }
     */
    IfLate: {
      /**
       * @description `skip` ends the delivery, without asking; `ask` fails it, and a retry publishes it then
       * @enum {string}
       */
      action: 'skip' | 'ask'
      /** @description After `dueAt` */
      afterMinutes: number
    }
    Import: {
      id: string
      state: components['schemas']['ImportState']
      pausedBecause: ('POST_LIMIT_REACHED' | 'ACCOUNT_DISABLED') | null
      /** @enum {string} */
      format: 'json' | 'csv'
      gapMinutes: number
      timezone: string
      rows: number
      counts: components['schemas']['ImportCounts']
      /** @description The posts that the rows without errors would create */
      posts: {
        drafts: number
        scheduled: number
        immediate: number
      }
      /** @description The plan's allowance when the import was planned, and how many posts it lacks */
      allowance: {
        used: number
        limit: number
        needed: number
        missing: number
      }
      /** Format: date-time */
      createdAt: string
      /** Format: date-time */
      updatedAt: string
      /**
       * Format: date-time
       * @description When the import is removed; its posts stay
       */
      removeAt: string
    }
    ImportConflict: {
      /** @enum {string} */
      code: 'TOO_CLOSE' | 'DUPLICATE_CONTENT'
      message: string
      platform: components['schemas']['Platform']
      accountId?: string
      /** @description The earlier row */
      withRow?: number
      /** @description The stored post */
      withPostId?: string
    }
    /** @description The number of rows in each status */
    ImportCounts: {
      ready: number
      warning: number
      conflict: number
      error: number
      created: number
      skipped: number
      failed: number
    }
    ImportPost: {
      content: {
        /** @example Good morning, everyone */
        text: string
        /** @description At most 20; each platform has its own, lower limit */
        mediaItems?: components['schemas']['MediaItemInput'][]
        /**
         * @description Further posts of a thread, each a reply to the one before; at most 25
         * @example [
         *       {
         *         "text": "Second post of the thread"
         *       }
         *     ]
         */
        segments?: components['schemas']['SegmentInput'][]
        /** @description A comment or reply of yours below the published post. Its failure is no failure of the post. */
        firstComment?: string
        /**
         * @description On platforms that publish no `segments` or no `firstComment`: `refuse` the post (the default), `join` the texts to one post, or `skipPlatform`
         * @enum {string}
         */
        onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
        options?: components['schemas']['PostOptions']
        /**
         * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
         * @example auto
         * @example {
         *       "url": "https://example.com/article",
         *       "title": "How we built it"
         *     }
         */
        link?: components['schemas']['LinkMode'] | components['schemas']['LinkCardInput']
      }
      /**
       * @description Publishes on the default account of each. At least one platform, account or group is required. In an update, a platform that the post has only through accounts or groups means those.
       * @example [
       *       "bluesky"
       *     ]
       */
      selectedPlatforms?: components['schemas']['Platform'][]
      /** @description Ids of further accounts to publish on (`GET /api/platform/accounts`). An update of the platforms without it keeps the accounts on those that stay. */
      selectedAccounts?: string[]
      /**
       * @description Ids or names of groups (`GET /api/groups`) to publish on the accounts that they have now. An account counts once, however often it is selected. `updatePost` reads the groups that it names again, and `replacePost` only those that the post did not have.
       * @example [
       *       "Northern brand"
       *     ]
       */
      selectedGroups?: string[]
      /**
       * @description Per platform, replaces the same part of `content`
       * @example {
       *       "bluesky": {
       *         "text": "Good morning, Bluesky"
       *       }
       *     }
       */
      platformSpecificContent?: {
        bluesky?: components['schemas']['OverrideInput']
        threads?: components['schemas']['OverrideInput']
        instagram?: components['schemas']['OverrideInput']
        facebook?: components['schemas']['OverrideInput']
        mastodon?: components['schemas']['OverrideInput']
        tumblr?: components['schemas']['OverrideInput']
      }
      /** @description Per account id, replaces the same part of `platformSpecificContent` and `content` */
      accountSpecificContent?: {
        [key: string]: components['schemas']['OverrideInput']
      }
      /**
       * @description ISO 8601. A value with an offset or zone is an instant; without one it is local time in `timezone`. `next-slot` is the next free slot of the first group, account or platform of the post that has slots (`PUT /api/slots`); a draft takes none. Null publishes now. A past time publishes now in `createPost` without `past=refuse`; everything else refuses it.
       * @example 2027-05-01T09:30:00+02:00
       * @example 2027-05-01T09:30
       */
      scheduledAt?: string | null
      /**
       * @description How long an immediate post waits before it is published, in place of your setting. It can be cancelled and edited meanwhile. Drafts and scheduled posts ignore it; an update of a waiting post begins the wait anew.
       * @example 30
       */
      holdSeconds?: number
      /** @description What becomes of the post if nothing of it could be sent in time; null, as by default, sends it late */
      ifLate?: components['schemas']['IfLate'] | null
      /**
       * @description IANA timezone; the default is that of the import
       * @example Europe/Berlin
       */
      timezone?: string
      /**
       * @description DRAFT prevents publication. PENDING and SCHEDULED are equivalent: `scheduledAt` decides between them.
       * @enum {string}
       */
      status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
    }
    ImportRow: {
      /** @description Counted from 1, without the header of a CSV file */
      row: number
      status: components['schemas']['ImportRowStatus']
      post: {
        [key: string]: unknown
      } | null
      postId: string | null
      errors: components['schemas']['Problem'][]
      warnings: components['schemas']['Problem'][]
      conflicts: components['schemas']['ImportConflict'][]
    }
    /** @enum {string} */
    ImportRowStatus: 'ready' | 'warning' | 'conflict' | 'error' | 'created' | 'skipped' | 'failed'
    /** @enum {string} */
    ImportState: 'planned' | 'applying' | 'paused' | 'completed' | 'cancelled'
    InstagramOptions: {
      /**
       * @description By default a single video is a `reel`, everything else `feed`. A `story` ends after 24 hours.
       * @enum {string}
       */
      kind?: 'feed' | 'reel' | 'story'
      /** @description Of a reel: the frame of the cover, in seconds */
      coverAt?: number
      collaborators?: string[]
      userTags?: components['schemas']['UserTag'][]
      /** @description Of a reel: `false` keeps it out of the feed */
      shareToFeed?: boolean
    }
    KindOfPostLimits: {
      media: {
        required: boolean
        /** @description Images and videos together */
        max: number
        /** @description True when a post may contain both images and videos */
        mix: boolean
        image: components['schemas']['MediaLimits']
        video: components['schemas']['MediaLimits']
      }
      altText: {
        image: number | null
        video: number | null
      }
      thread: {
        /**
         * @description How `segments` are published: as `replies`, `joined` to one long post, or `none`, where `onUnsupported` decides
         * @enum {string}
         */
        segments: 'replies' | 'joined' | 'none'
        /**
         * @description How `firstComment` is published: as a `reply`, which has the limits of a post, as a `comment`, or `none`, where `onUnsupported` decides
         * @enum {string}
         */
        firstComment: 'reply' | 'comment' | 'none'
        /** @description Maximum length of a `comment` in characters; absent for the other forms */
        commentLength?: number
      }
    }
    LibraryMedia: {
      /** @description The last part of `storageKey` */
      id: string
      /** @example posts/6824b1f7c0a9d3e5f1a2b3c4/3f0c8a52-6d1b-4f0e-9c7a-2b1d5e8f9a01.jpg */
      storageKey: string
      /** @description Public URL of the file */
      storageUrl: string
      /** @example image/jpeg */
      mimeType: string
      sizeBytes: number | null
      /** Format: date-time */
      createdAt: string
      /** @example sunrise.jpg */
      originalFilename?: string
      /** @description Pixels */
      width?: number
      /** @description Pixels */
      height?: number
      /** @description Seconds, for videos */
      duration?: number
      /** @description Number of posts that use it */
      postCount: number
      /** @description The newest 20 of them */
      posts: {
        /** @example 6824b1f7c0a9d3e5f1a2b3c4 */
        postId: string
        status: components['schemas']['PostStatus']
      }[]
    }
    LinkCard: {
      title?: string
      /** @example https://example.com/article */
      url: string
      description?: string
      image?: components['schemas']['MediaItem']
    }
    LinkCardInput: {
      title?: string
      /** @example https://example.com/article */
      url: string
      description?: string
      image?: components['schemas']['MediaItemInput']
    }
    /** @enum {string} */
    LinkMode: 'auto' | 'none'
    LinkPreview: {
      title: string
      /** @description The address after redirects */
      url: string
      description: string | null
      imageUrl: string | null
    }
    /** @description `analytics` is present with `include=metrics`. */
    ListedPost: {
      /** @example 6824b1f7c0a9d3e5f1a2b3c4 */
      _id: string
      userId: string
      content: components['schemas']['PostContent']
      /** @description All platforms of the post */
      selectedPlatforms: components['schemas']['Platform'][]
      selectedAccounts?: string[]
      /** @description Ids of `groups` */
      selectedGroups?: string[]
      /** @description The groups as they were when the post was stored, also when they have changed since */
      groups?: components['schemas']['PostGroup'][]
      /** @description Overrides by platform */
      platformSpecificContent: {
        bluesky?: components['schemas']['PostContentOverride']
        threads?: components['schemas']['PostContentOverride']
        instagram?: components['schemas']['PostContentOverride']
        facebook?: components['schemas']['PostContentOverride']
        mastodon?: components['schemas']['PostContentOverride']
        tumblr?: components['schemas']['PostContentOverride']
      }
      /** @description Overrides by account id */
      accountSpecificContent?: {
        [key: string]: components['schemas']['PostContentOverride']
      }
      scheduledAt: string | null
      dueAt: string | null
      ifLate?: components['schemas']['IfLate']
      timezone: string
      status: components['schemas']['PostStatus']
      platformStatuses: components['schemas']['PlatformStatus'][]
      correlationId: string | null
      metadata: {
        source: components['schemas']['PostSource']
        client: components['schemas']['PostClient']
      }
      /** @description Only in lists: the post is too large for its page. It has the beginning of its text, without `platformSpecificContent`, `segments`, `firstComment`, `parts` and alt texts. Get the post by its id to read all of it. */
      isShortened?: boolean
      /** Format: date-time */
      createdAt: string
      /** Format: date-time */
      updatedAt: string
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
      /** @description The latest snapshot by platform */
      analytics?: {
        bluesky?: components['schemas']['MetricsSnapshot']
        threads?: components['schemas']['MetricsSnapshot']
        instagram?: components['schemas']['MetricsSnapshot']
        facebook?: components['schemas']['MetricsSnapshot']
        mastodon?: components['schemas']['MetricsSnapshot']
        tumblr?: components['schemas']['MetricsSnapshot']
      }
      /** @description The latest snapshot by account id, for accounts that the post names */
      accountAnalytics?: {
        [key: string]: components['schemas']['MetricsSnapshot']
      }
    }
    LoggedIn: {
      /** @description Send it as `Authorization: Bearer` */
      accessToken: string
      user: components['schemas']['User']
    }
    LogIn: {
      email: string
      password: string
    }
    MastodonOptions: {
      /**
       * @description By default that of the account
       * @enum {string}
       */
      visibility?: 'public' | 'unlisted' | 'private'
      /** @description A content warning behind which the text is hidden */
      spoilerText?: string
      /** @description Hides the media */
      sensitive?: boolean
      /** @example en */
      language?: string
      poll?: components['schemas']['Poll']
    }
    MediaItem: {
      /**
       * @description The key that the media upload returned. It must start with your own prefix.
       * @example posts/6824b1f7c0a9d3e5f1a2b3c4/3f0c8a52-6d1b-4f0e-9c7a-2b1d5e8f9a01.jpg
       */
      storageKey: string
      /**
       * @description Allowed values: image/png, image/jpeg, image/jpg, image/webp, video/mp4, video/quicktime
       * @example image/jpeg
       */
      mimeType: string
      /** @example sunrise.jpg */
      originalFilename?: string
      sizeBytes?: number
      /** @description Pixels */
      width?: number
      /** @description Pixels */
      height?: number
      /** @description Seconds, for videos */
      duration?: number
      /**
       * @description Description for people who cannot see the media
       * @example The sun rises over a harbour
       */
      altText?: string
      /** @description Public URL of the file */
      storageUrl: string
    }
    MediaItemInput: {
      /**
       * @description The key that the media upload returned. It must start with your own prefix.
       * @example posts/6824b1f7c0a9d3e5f1a2b3c4/3f0c8a52-6d1b-4f0e-9c7a-2b1d5e8f9a01.jpg
       */
      storageKey?: string
      /**
       * @description Allowed values: image/png, image/jpeg, image/jpg, image/webp, video/mp4, video/quicktime
       * @example image/jpeg
       */
      mimeType: string
      /** @example sunrise.jpg */
      originalFilename?: string
      sizeBytes?: number
      /** @description Pixels */
      width?: number
      /** @description Pixels */
      height?: number
      /** @description Seconds, for videos */
      duration?: number
      /**
       * @description Description for people who cannot see the media
       * @example The sun rises over a harbour
       */
      altText?: string
      /**
       * @description The address of a public file, in place of `storageKey`. It is fetched and stored when the post is stored: an image up to 10 MB, a video up to 100 MB. Upload larger videos.
       * @example https://example.com/picture.jpg
       */
      sourceUrl?: string
    }
    MediaLimits: {
      max: number
      types: string[]
      /** @description The largest file that the media upload and the platform both accept */
      maxBytes: number
      /** @description Length of a video; absent when unlimited */
      seconds?: {
        min?: number
        max: number
      }
      /** @description Pixels of a frame of a video; absent when unlimited */
      pixels?: number
      /** @description Pixels of a row of a video; absent when unlimited */
      width?: number
      /** @description Frames a second of a video; absent when unlimited */
      frameRate?: {
        min?: number
        max: number
      }
      /**
       * @description A video with its index (moov) at the end is a warning
       * @enum {boolean}
       */
      indexFirst?: true
      /** @description Video codecs; absent when any is converted */
      codecs?: string[]
    }
    MediaUpload: {
      /** @description Send the file here with PUT within 15 minutes, with exactly this Content-Type and without an Authorization header. */
      uploadUrl: string
      /** @description Public URL of the file after the upload */
      storageUrl: string
      /** @example posts/6824b1f7c0a9d3e5f1a2b3c4/3f0c8a52-6d1b-4f0e-9c7a-2b1d5e8f9a01.jpg */
      storageKey: string
      /** @example image/jpeg */
      contentType: string
    }
    MetricsCounts: {
      likes: number | null
      shares: number | null
      comments: number | null
      impressions: number | null
      reach: number | null
      saved: number | null
    }
    MetricsSnapshot: {
      platform: components['schemas']['Platform']
      /** Format: date-time */
      snapshotAt: string
      likes: number | null
      shares: number | null
      comments: number | null
      impressions: number | null
      reach: number | null
      saved: number | null
      totalEngagement: number | null
      engagementRate: number | null
      virality: number | null
      followerCountAtSnapshot: number | null
      thread?: components['schemas']['ThreadMetrics']
    }
    Notification: {
      _id: string
      userId: string
      message: string
      /** @enum {string} */
      type: 'success' | 'error' | 'info' | 'warning'
      /** @description The record that the notification refers to */
      reference: {
        type: string
        id: string
        model: string
      }
      options: {
        image?: string
        link?: string
      }
      read: boolean
      /** Format: date-time */
      createdAt: string
      group?: components['schemas']['NotificationGroup']
    }
    /** @description Only with `grouped=true`: all notifications of the same post */
    NotificationGroup: {
      count: number
      unread: number
      /**
       * @description The most serious type
       * @enum {string}
       */
      type: 'success' | 'error' | 'info' | 'warning'
      /** @description The newest 49 others, newest first */
      others: {
        _id: string
        userId: string
        message: string
        /** @enum {string} */
        type: 'success' | 'error' | 'info' | 'warning'
        /** @description The record that the notification refers to */
        reference: {
          type: string
          id: string
          model: string
        }
        options: {
          image?: string
          link?: string
        }
        read: boolean
        /** Format: date-time */
        createdAt: string
      }[]
    }
    NotificationList: {
      notifications: components['schemas']['Notification'][]
      total: number
      page: number
      limit: number
      /** @description Unread notifications on all pages */
      unread: number
    }
    NotificationPreferences: {
      preferences: {
        postCreated: {
          list: boolean
          push: boolean
          mail: boolean
        }
        postPublished: {
          list: boolean
          push: boolean
          mail: boolean
        }
        postFailed: {
          list: boolean
          push: boolean
          mail: boolean
        }
        postWarning: {
          list: boolean
          push: boolean
          mail: boolean
        }
        accountLogin: {
          list: boolean
          push: boolean
          mail: boolean
        }
        billing: {
          list: boolean
          push: boolean
          mail: boolean
        }
        webhook: {
          list: boolean
          push: boolean
          mail: boolean
        }
        security: {
          list: boolean
          push: boolean
          mail: boolean
        }
      }
      /** @description Channels that cannot be switched off */
      required: {
        postCreated?: ('list' | 'push' | 'mail')[]
        postPublished?: ('list' | 'push' | 'mail')[]
        postFailed?: ('list' | 'push' | 'mail')[]
        postWarning?: ('list' | 'push' | 'mail')[]
        accountLogin?: ('list' | 'push' | 'mail')[]
        billing?: ('list' | 'push' | 'mail')[]
        webhook?: ('list' | 'push' | 'mail')[]
        security?: ('list' | 'push' | 'mail')[]
      }
    }
    OverrideInput: {
      /** @example Good morning, everyone */
      text?: string
      /** @description At most 20; each platform has its own, lower limit */
      mediaItems?: components['schemas']['MediaItemInput'][]
      /**
       * @description Further posts of a thread, each a reply to the one before; at most 25
       * @example [
       *       {
       *         "text": "Second post of the thread"
       *       }
       *     ]
       */
      segments?: components['schemas']['SegmentInput'][]
      /** @description A comment or reply of yours below the published post. Its failure is no failure of the post. */
      firstComment?: string
      /**
       * @description On platforms that publish no `segments` or no `firstComment`: `refuse` the post (the default), `join` the texts to one post, or `skipPlatform`
       * @enum {string}
       */
      onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
      options?: components['schemas']['PostOptions']
      /**
       * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
       * @example auto
       * @example {
       *       "url": "https://example.com/article",
       *       "title": "How we built it"
       *     }
       */
      link?: components['schemas']['LinkMode'] | components['schemas']['LinkCardInput']
    }
    PartReport: {
      /** @description Text length as the platform counts it. Counting stops at ten times `limit`. */
      length: number
      limit: number
      /** @description Number of media items */
      media: number
    }
    PaymentEvent: {
      /** @example evt_1Q */
      id: string
      /** @enum {string} */
      object: 'event'
      /** @example customer.subscription.updated */
      type: string
      /** @description Unix seconds */
      created: number
      data: {
        object: {
          [key: string]: unknown
        }
      }
    } & {
      [key: string]: unknown
    }
    /** @enum {string} */
    Period: '7d' | '30d'
    /**
     * @description Platform identifier
     * @enum {string}
     */
    Platform: 'bluesky' | 'threads' | 'instagram' | 'facebook' | 'mastodon' | 'tumblr'
    PlatformConnection: {
      connected: boolean
      /** @description Id of the account here */
      _id?: string
      /** @description The account's id on the platform */
      platformId?: string
      profile?: components['schemas']['PlatformProfile']
      health?: components['schemas']['ConnectionHealth']
      /** Format: date-time */
      connectedAt?: string
      /** @description Only for bluesky */
      did?: string
      /** @description Only for bluesky */
      handle?: string
      /** @description Only for mastodon */
      instanceUrl?: string
      /** @description Only for mastodon */
      accountId?: string
      /** @description Only for tumblr */
      blogHostname?: string
    }
    PlatformLimits: {
      /** @description Every limit applies */
      text: {
        unit: string
        max: number
        linkLength?: number
      }[]
      /** @description Longer texts are a warning: the platform may refuse them */
      uncertainAbove?: {
        unit: string
        max: number
        linkLength?: number
      }
      /** @description Maximum number of each in a text; absent when unlimited */
      parts?: {
        hashtags?: number
        mentions?: number
        links?: number
      }
      media: {
        required: boolean
        /** @description Images and videos together */
        max: number
        /** @description True when a post may contain both images and videos */
        mix: boolean
        image: components['schemas']['MediaLimits']
        video: components['schemas']['MediaLimits']
      }
      altText: {
        image: number | null
        video: number | null
      }
      thread: {
        /**
         * @description How `segments` are published: as `replies`, `joined` to one long post, or `none`, where `onUnsupported` decides
         * @enum {string}
         */
        segments: 'replies' | 'joined' | 'none'
        /**
         * @description How `firstComment` is published: as a `reply`, which has the limits of a post, as a `comment`, or `none`, where `onUnsupported` decides
         * @enum {string}
         */
        firstComment: 'reply' | 'comment' | 'none'
        /** @description Maximum length of a `comment` in characters; absent for the other forms */
        commentLength?: number
      }
      /** @description True when `takeBackPost` can remove published posts */
      removable: boolean
      /** @description True when `editPublishedPost` can edit published posts */
      editable: boolean
      /** @description Posts with one of these cannot be edited */
      notEditableWith?: ('video' | 'poll')[]
      /** @description What is different for other kinds of posts, by `options.<platform>.kind` */
      kinds?: {
        reel?: components['schemas']['KindOfPostLimits']
        story?: components['schemas']['KindOfPostLimits']
      }
      /** @description Names of the `options` of a post on the platform */
      options: string[]
      /** @description The limits of `options.<platform>.poll`; absent when posts have no polls */
      poll?: {
        options: {
          min: number
          max: number
        }
        /** @description Maximum length of an option */
        optionLength: number
        /** @description Of `optionLength`, as in `text` */
        unit: string
        /** @description Seconds; absent where the platform decides it */
        expiresIn?: {
          min: number
          max: number
        }
      }
      /** @description What the platform accepts of the connected account; absent where no limit is known. Every limit applies */
      publications?: components['schemas']['PublicationQuota'][]
    }
    PlatformPerformance: {
      _id: components['schemas']['Platform']
      totalEngagement: number
      /** @description A post counts once per account */
      totalPosts: number
      avgEngagementRate: number | null
      /** @description Best first, where the posts are from several accounts */
      accounts?: {
        accountId: string
        totalEngagement: number
        /** @description A post counts once per account */
        totalPosts: number
        avgEngagementRate: number | null
      }[]
    }
    PlatformProfile: {
      displayName: string
      handle: string
      avatar: string | null
      description?: string
    }
    PlatformReport: {
      /** @description Text length as the platform counts it. Counting stops at ten times `limit`. */
      length: number
      limit: number
      /** @description Number of media items */
      media: number
      /** @description Further posts of a thread, and the first comment */
      parts?: components['schemas']['PartReport'][]
    }
    PlatformStatus: {
      platform: components['schemas']['Platform']
      accountId: string | null
      accountName: string | null
      server: string | null
      status: components['schemas']['DeliveryStatus']
      platformPostId: string | null
      platformPostUrl: string | null
      /** @description What the platform left out of the published post, such as an image */
      warning?: string
      error: string | null
      errorCode: components['schemas']['FailureCode'] | null
      nextAttemptAt: string | null
      /** @description The posts of a thread and the first comment, in order; absent for a single post. The fields above are those of the first. */
      parts?: components['schemas']['PostPart'][]
      removal?: components['schemas']['Removal']
      /** @description The edits of the published post, oldest first; absent before the first. The last `completed` one is its text. */
      revisions?: components['schemas']['Revision'][]
      /** @description Id of the duplicate that was submitted for the same account after the failure */
      replacedBy?: string
      attemptCount: number
      lastAttemptAt: string | null
      completedAt: string | null
      lastAnalyticsFetch: string | null
    }
    Poll: {
      /**
       * @example [
       *       "Yes",
       *       "No"
       *     ]
       */
      options: string[]
      /** @description Seconds from the publication on */
      expiresIn: number
      multiple?: boolean
      /** @description Hides the counts until the poll ends */
      hideTotals?: boolean
    }
    /** @description The post as it is now, unless it was deleted */
    Post: {
      /** @example 6824b1f7c0a9d3e5f1a2b3c4 */
      _id: string
      userId: string
      content: components['schemas']['PostContent']
      /** @description All platforms of the post */
      selectedPlatforms: components['schemas']['Platform'][]
      selectedAccounts?: string[]
      /** @description Ids of `groups` */
      selectedGroups?: string[]
      /** @description The groups as they were when the post was stored, also when they have changed since */
      groups?: components['schemas']['PostGroup'][]
      /** @description Overrides by platform */
      platformSpecificContent: {
        bluesky?: components['schemas']['PostContentOverride']
        threads?: components['schemas']['PostContentOverride']
        instagram?: components['schemas']['PostContentOverride']
        facebook?: components['schemas']['PostContentOverride']
        mastodon?: components['schemas']['PostContentOverride']
        tumblr?: components['schemas']['PostContentOverride']
      }
      /** @description Overrides by account id */
      accountSpecificContent?: {
        [key: string]: components['schemas']['PostContentOverride']
      }
      scheduledAt: string | null
      dueAt: string | null
      ifLate?: components['schemas']['IfLate']
      timezone: string
      status: components['schemas']['PostStatus']
      platformStatuses: components['schemas']['PlatformStatus'][]
      correlationId: string | null
      metadata: {
        source: components['schemas']['PostSource']
        client: components['schemas']['PostClient']
      }
      /** @description Only in lists: the post is too large for its page. It has the beginning of its text, without `platformSpecificContent`, `segments`, `firstComment`, `parts` and alt texts. Get the post by its id to read all of it. */
      isShortened?: boolean
      /** Format: date-time */
      createdAt: string
      /** Format: date-time */
      updatedAt: string
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
    }
    /**
     * @description What wrote the post: the program that the request named, an import, or `api` for any other program
     * @enum {string}
     */
    PostClient: 'console' | 'cli' | 'mcp' | 'sdk' | 'import' | 'api'
    PostConflict: {
      /** @enum {boolean} */
      success: false
      message: string
      statusCode: number
      code: components['schemas']['ErrorCode']
      requestId: string
      /** @description All problems with the input */
      errors?: components['schemas']['Problem'][]
      /** @description With a plan limit: the amount used */
      usage?: number
      /** @description With a plan limit: the amount allowed */
      limit?: number
      /** @description With `INSUFFICIENT_SCOPE`: the scope that the API key lacks */
      scope?: string
      /** @description With a rate limit: its name */
      bucket?: string
      /** @description With `EVENTS_EXPIRED`: the first sequence that is stored */
      oldest?: number
      /** @description With `EVENTS_EXPIRED`: the last sequence */
      latest?: number
      /** @description With `MEDIA_IN_USE`: up to 20 posts that need the file; with `POST_LIMIT_REACHED`: the draft that has the share of the post */
      postIds?: string[]
      /** @description With a health route: the missing dependencies */
      missing?: string[]
      post?: components['schemas']['Post']
    }
    PostContent: {
      text: string
      mediaItems: components['schemas']['MediaItem'][]
      /** @description Further posts of the thread */
      segments?: components['schemas']['PostSegment'][]
      firstComment?: string
      /** @enum {string} */
      onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
      options?: components['schemas']['PostOptions']
      /**
       * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
       * @example auto
       * @example {
       *       "url": "https://example.com/article",
       *       "title": "How we built it"
       *     }
       */
      link?: components['schemas']['LinkMode'] | components['schemas']['LinkCard']
    }
    PostContentOverride: {
      text?: string
      mediaItems?: components['schemas']['MediaItem'][]
      /** @description Further posts of the thread */
      segments?: components['schemas']['PostSegment'][]
      firstComment?: string
      /** @enum {string} */
      onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
      options?: components['schemas']['PostOptions']
      /**
       * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
       * @example auto
       * @example {
       *       "url": "https://example.com/article",
       *       "title": "How we built it"
       *     }
       */
      link?: components['schemas']['LinkMode'] | components['schemas']['LinkCard']
    }
    PostCounts: {
      timezone: string
      /** @description Every day of the range, in order */
      days: {
        /** Format: date */
        date: string
        total: number
        /** @description Only statuses that posts have */
        statuses: {
          DRAFT?: number
          PENDING?: number
          SCHEDULED?: number
          PROCESSING?: number
          COMPLETED?: number
          PARTIAL_SUCCESS?: number
          FAILED?: number
          CANCELLED?: number
        }
      }[]
    }
    PostDetail: {
      post: components['schemas']['Post']
      /** @description The latest snapshot by platform */
      analytics: {
        bluesky?: components['schemas']['MetricsSnapshot']
        threads?: components['schemas']['MetricsSnapshot']
        instagram?: components['schemas']['MetricsSnapshot']
        facebook?: components['schemas']['MetricsSnapshot']
        mastodon?: components['schemas']['MetricsSnapshot']
        tumblr?: components['schemas']['MetricsSnapshot']
      }
      /** @description The latest snapshot by account id, for accounts that the post names */
      accountAnalytics?: {
        [key: string]: components['schemas']['MetricsSnapshot']
      }
    }
    PostGroup: {
      id: string
      name: string
      accountIds: string[]
    }
    PostList: {
      posts: components['schemas']['ListedPost'][]
      total: number
      page: number
      limit: number
      totalPages: number
    }
    /** @description What the post has on one platform only; only first posts of threads have polls, quotes and topics */
    PostOptions: {
      mastodon?: components['schemas']['MastodonOptions']
      bluesky?: components['schemas']['BlueskyOptions']
      threads?: components['schemas']['ThreadsOptions']
      instagram?: components['schemas']['InstagramOptions']
      tumblr?: components['schemas']['TumblrOptions']
    }
    PostPart: {
      /** @enum {string} */
      kind: 'post' | 'comment'
      status: components['schemas']['DeliveryStatus']
      platformPostId: string | null
      platformPostUrl: string | null
      warning?: string
      error: string | null
      errorCode: components['schemas']['FailureCode'] | null
      completedAt: string | null
    }
    PostProgress: {
      postId: string
      status: components['schemas']['PostStatus']
      platformStatuses: components['schemas']['PlatformStatus'][]
      scheduledAt: string | null
      dueAt: string | null
      /** Format: date-time */
      createdAt: string
      /** Format: date-time */
      updatedAt: string
      progress: {
        total: number
        pending: number
        processing: number
        completed: number
        failed: number
        deleted: number
      }
    }
    PostSegment: {
      text: string
      mediaItems: components['schemas']['MediaItem'][]
    }
    /**
     * @description `web` when the request had an `Origin`
     * @enum {string}
     */
    PostSource: 'web' | 'api'
    /**
     * @description Status of the whole post
     * @enum {string}
     */
    PostStatus:
      'DRAFT' | 'PENDING' | 'SCHEDULED' | 'PROCESSING' | 'COMPLETED' | 'PARTIAL_SUCCESS' | 'FAILED' | 'CANCELLED'
    PostTimeline: {
      postId: string
      /** @description Oldest first */
      events: components['schemas']['TimelineEvent'][]
    }
    Problem: {
      /**
       * @description Dotted path into the body, such as content.mediaItems.0.mimeType
       * @example selectedPlatforms.0
       */
      path: string
      /** @example PLATFORM_NOT_CONNECTED */
      code: string
      message: string
      platform?: string
      accountId?: string
      /**
       * Format: date-time
       * @description With `QUOTA_LIKELY_EXCEEDED` and `TIME_CROWDED`: when the post would be published
       */
      nextFreeAt?: string
    }
    /** @description `nextFreeAt` is `null` when another post can be published now, and `resetsAt` when no post counts any more */
    PublicationQuota: {
      /** @description Posts in the window */
      limit: number
      used: number
      /** @description The length of the sliding window */
      windowSeconds: number
      /** @description Posts that are due and wait for their turn */
      waiting: number
      nextFreeAt: string | null
      resetsAt: string | null
    }
    Punctuality: {
      /** @description Oldest first; the last hour has not ended */
      hours: {
        /**
         * Format: date-time
         * @description Start of the UTC hour in which the deliveries were scheduled
         */
        hour: string
        /** @description Published within `missAfterMs` of the scheduled time */
        onTime: number
        /** @description Late, failed and overdue deliveries */
        misses: number
        share: number | null
      }[]
      /** @description False when there were too many posts; the first hours are then too low */
      isComplete: boolean
      missAfterMs: number
    }
    Queues: {
      /** Format: date-time */
      at: string
      taskQueues: components['schemas']['TaskQueue'][] | null
      /** @description Posts that are due for more than 30 s and whose delivery has not begun; at most 10,000 */
      unstartedPosts: number
      /** @description Deliveries that are due and still open, by reason, the most frequent first */
      waiting: components['schemas']['WaitingDeliveries'][]
      /** @description False when `waiting` covers only the 10,000 longest due posts */
      isComplete: boolean
      deadLetters: number
    }
    RedeliverSince: {
      /** Format: date-time */
      since: string
    }
    RefreshedMetrics: {
      platform: components['schemas']['Platform']
      snapshot: components['schemas']['MetricsSnapshot'] | null
      /** @description The latest snapshot by platform */
      analytics: {
        bluesky?: components['schemas']['MetricsSnapshot']
        threads?: components['schemas']['MetricsSnapshot']
        instagram?: components['schemas']['MetricsSnapshot']
        facebook?: components['schemas']['MetricsSnapshot']
        mastodon?: components['schemas']['MetricsSnapshot']
        tumblr?: components['schemas']['MetricsSnapshot']
      }
      /** @description The latest snapshot by account id, for accounts that the post names */
      accountAnalytics?: {
        [key: string]: components['schemas']['MetricsSnapshot']
      }
      /** @description False when the platform returned no new counts in time, and the snapshot is an older one */
      fresh: boolean
    }
    /** @description The last request to remove the published post */
    Removal: {
      /** @enum {string} */
      status: 'pending' | 'completed' | 'failed'
      /** Format: date-time */
      requestedAt: string
      /** @description Id of the user, or of the API key after `key:` */
      requestedBy: string
      completedAt: string | null
      error: string | null
      errorCode: components['schemas']['FailureCode'] | null
    }
    ReplacePost: {
      content: {
        /** @example Good morning, everyone */
        text: string
        /** @description At most 20; each platform has its own, lower limit */
        mediaItems?: components['schemas']['MediaItemInput'][]
        /**
         * @description Further posts of a thread, each a reply to the one before; at most 25
         * @example [
         *       {
         *         "text": "Second post of the thread"
         *       }
         *     ]
         */
        segments?: components['schemas']['SegmentInput'][]
        /** @description A comment or reply of yours below the published post. Its failure is no failure of the post. */
        firstComment?: string
        /**
         * @description On platforms that publish no `segments` or no `firstComment`: `refuse` the post (the default), `join` the texts to one post, or `skipPlatform`
         * @enum {string}
         */
        onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
        options?: components['schemas']['PostOptions']
        /**
         * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
         * @example auto
         * @example {
         *       "url": "https://example.com/article",
         *       "title": "How we built it"
         *     }
         */
        link?: components['schemas']['LinkMode'] | components['schemas']['LinkCardInput']
      }
      /**
       * @description Publishes on the default account of each. At least one platform, account or group is required. In an update, a platform that the post has only through accounts or groups means those.
       * @example [
       *       "bluesky"
       *     ]
       */
      selectedPlatforms?: components['schemas']['Platform'][]
      /** @description Ids of further accounts to publish on (`GET /api/platform/accounts`). An update of the platforms without it keeps the accounts on those that stay. */
      selectedAccounts?: string[]
      /**
       * @description Ids or names of groups (`GET /api/groups`) to publish on the accounts that they have now. An account counts once, however often it is selected. `updatePost` reads the groups that it names again, and `replacePost` only those that the post did not have.
       * @example [
       *       "Northern brand"
       *     ]
       */
      selectedGroups?: string[]
      /**
       * @description Per platform, replaces the same part of `content`
       * @example {
       *       "bluesky": {
       *         "text": "Good morning, Bluesky"
       *       }
       *     }
       */
      platformSpecificContent?: {
        bluesky?: components['schemas']['OverrideInput']
        threads?: components['schemas']['OverrideInput']
        instagram?: components['schemas']['OverrideInput']
        facebook?: components['schemas']['OverrideInput']
        mastodon?: components['schemas']['OverrideInput']
        tumblr?: components['schemas']['OverrideInput']
      }
      /** @description Per account id, replaces the same part of `platformSpecificContent` and `content` */
      accountSpecificContent?: {
        [key: string]: components['schemas']['OverrideInput']
      }
      /**
       * @description ISO 8601. A value with an offset or zone is an instant; without one it is local time in `timezone`. `next-slot` is the next free slot of the first group, account or platform of the post that has slots (`PUT /api/slots`); a draft takes none. Null publishes now. A past time publishes now in `createPost` without `past=refuse`; everything else refuses it.
       * @example 2027-05-01T09:30:00+02:00
       * @example 2027-05-01T09:30
       */
      scheduledAt?: string | null
      /**
       * @description How long an immediate post waits before it is published, in place of your setting. It can be cancelled and edited meanwhile. Drafts and scheduled posts ignore it; an update of a waiting post begins the wait anew.
       * @example 30
       */
      holdSeconds?: number
      /** @description What becomes of the post if nothing of it could be sent in time; null, as by default, sends it late */
      ifLate?: components['schemas']['IfLate'] | null
      /**
       * @description IANA timezone; the default is UTC
       * @example Europe/Berlin
       */
      timezone?: string
      /**
       * @description DRAFT prevents publication. PENDING and SCHEDULED are equivalent: `scheduledAt` decides between them.
       * @enum {string}
       */
      status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
    }
    ReplaceSlots: {
      slots: components['schemas']['SlotPlan'][]
    }
    ResetPassword: {
      token: string
      /** Format: email */
      email: string
      password: string
      /** @description True also deletes all API keys; the programs that use them stop working */
      endsApiKeys?: boolean
    }
    RetryPost: {
      /** @description Retries only on these accounts */
      accounts?: string[]
    }
    Revision: {
      text: string
      /** @enum {string} */
      status: 'pending' | 'completed' | 'failed'
      /** Format: date-time */
      requestedAt: string
      /** @description Id of the user, or of the API key after `key:` */
      requestedBy: string
      completedAt: string | null
      error: string | null
      errorCode: components['schemas']['FailureCode'] | null
    }
    SegmentInput: {
      /** @example Good morning, everyone */
      text?: string
      /** @description At most 20; each platform has its own, lower limit */
      mediaItems?: components['schemas']['MediaItemInput'][]
    }
    ServiceLevels: {
      /** Format: date-time */
      since: string
      /** Format: date-time */
      until: string
      /** @description False when there were too many posts; `since` is then less than 24 hours ago */
      isComplete: boolean
      missAfterMs: number
      posts: {
        /** @description All posts in the window */
        scheduled: number
        delivered: number
        partiallyDelivered: number
        failed: number
        overdue: number
        open: number
        cancelled: number
      }
      deliveries: components['schemas']['DeliveryCounts']
      platforms: {
        bluesky?: components['schemas']['DeliveryCounts']
        threads?: components['schemas']['DeliveryCounts']
        instagram?: components['schemas']['DeliveryCounts']
        facebook?: components['schemas']['DeliveryCounts']
        mastodon?: components['schemas']['DeliveryCounts']
        tumblr?: components['schemas']['DeliveryCounts']
      }
    }
    SetupEntry: {
      /** @enum {string} */
      part:
        | 'publicUrl'
        | 'frontendUrl'
        | 'temporal'
        | 'worker'
        | 'schedules'
        | 'encryptionKeys'
        | 'storage'
        | 'publicStorage'
        | 'mail'
        | 'bluesky'
        | 'threads'
        | 'instagram'
        | 'facebook'
        | 'mastodon'
        | 'tumblr'
        | 'google'
        | 'captions'
        | 'payments'
        | 'push'
      /**
       * @description `missing`: users need it, and it is not set up. `failing`: it is set up, and the check failed. `off`: an optional part
       * @enum {string}
       */
      state: 'ready' | 'missing' | 'failing' | 'off'
      /** @description What the state means for users */
      effect: string
      problem: string | null
      nextStep: string | null
      /** @description Names of the settings */
      settings: string[]
    }
    SignUp: {
      /** Format: email */
      email: string
      /** @description 2 to 100 characters */
      name: string
      password: string
      confirmPassword?: string
      /**
       * @description IANA timezone of the new account; without one, or with an unknown one, it has UTC
       * @example Europe/Berlin
       */
      timezone?: string
      /** @description Proves the verified address; sign up with it within 15 minutes. Also set as a cookie, and accepted in the header `X-Verification-Token`. */
      verificationToken?: string
      avatar?: string | null
    }
    /** @description Has either `accountId` or `groupId`. */
    SlotPlan: {
      /** @description The account that has these slots */
      accountId?: string
      /** @description The group that has these slots */
      groupId?: string
      /**
       * @description IANA timezone
       * @example Europe/Berlin
       */
      timezone: string
      times: components['schemas']['SlotTime'][]
    }
    Slots: {
      slots: components['schemas']['SlotPlan'][]
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
    }
    /**
     * @example {
     *       "day": "monday",
     *       "time": "09:30"
     *     }
     */
    SlotTime: {
      /** @enum {string} */
      day: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'
      /** @description Local time in `timezone` */
      time: string
    }
    SubscriptionStatus: {
      subscription: {
        /** @enum {string} */
        plan: 'free' | 'pro'
        /** @enum {string} */
        status: 'active' | 'cancelled' | 'pastDue'
        processorCustomerId: string | null
        processorSubscriptionId: string | null
        currentPeriodStart: string | null
        currentPeriodEnd: string | null
        cancelAtPeriodEnd: boolean
      }
      usage: {
        postsCreated: number
        captionGenerations: number
        /** @description Connected platform accounts */
        accounts: number
      }
      limits: {
        maxPosts: number
        maxCaptionGenerations: number
        /** @description Connected platform accounts */
        maxAccounts: number
      }
      /** @enum {string} */
      plan: 'free' | 'pro'
    }
    TaskQueue: {
      /** @example publishing */
      queue: string
      /** @enum {string} */
      kind: 'workflows' | 'activities'
      /** @description Whether a worker has polled within `WORKER_SILENCE_MS` */
      isServed: boolean
      /** @description Tasks that no worker has taken yet, about */
      backlog: number
      /** @description How long the oldest of them has waited */
      backlogAgeMs: number
      /** @description The workers of the last minutes, the latest first; at most 50 */
      pollers: {
        /** @description Process id and host name of the worker */
        identity: string
        /** Format: date-time */
        lastAccessAt: string
      }[]
    }
    /** @description All posts of a thread; the other fields are of the first */
    ThreadMetrics: {
      /** @description By post; null without an answer of the platform */
      parts: (components['schemas']['MetricsCounts'] | null)[]
      sum: components['schemas']['MetricsCounts']
    }
    ThreadsOptions: {
      /**
       * @description Who may reply to the posts of the thread
       * @enum {string}
       */
      replyControl?: 'everyone' | 'following' | 'mentioned' | 'followers'
      /** @description The topic of the post */
      topicTag?: string
      poll?: components['schemas']['ThreadsPoll']
      /** @description Shows the post as a story of the linked Instagram account, too. Needs the permission threads_share_to_instagram. A `warning` says when there is no story. */
      crossreshare?: boolean
    }
    ThreadsPoll: {
      /**
       * @example [
       *       "Yes",
       *       "No"
       *     ]
       */
      options: string[]
    }
    TimelineEvent: {
      /** Format: date-time */
      at: string
      /** @enum {string} */
      type: 'transition' | 'edit' | 'retry' | 'wait' | 'attempt' | 'outcome' | 'reconcile'
      status?: components['schemas']['PostStatus']
      platform?: components['schemas']['Platform']
      /** @description Id of the account */
      accountId?: string
      /** @enum {string} */
      result?: 'accepted' | 'refused' | 'deferred' | 'unknown' | 'deleted' | 'edited' | 'found' | 'absent'
      errorCode?: components['schemas']['FailureCode']
      /** @description The error code of the platform */
      platformCode?: string
      /** @description The error text of the platform, without markup and secrets; at most 300 characters */
      platformText?: string
      /** @description Number of the user's retry; 0 is the first delivery */
      round?: number
      /** @description Number of the call to the platform */
      attempt?: number
      /** @description Number of the post in a thread; the first comment is the last */
      part?: number
      /**
       * Format: date-time
       * @description When the delivery continues or the hold ends
       */
      until?: string
      /** @description Temporal run id, for events of a worker */
      workflowRunId?: string
    }
    TopPost: {
      /** @description `<postId>:<platform>`, or `<postId>:<accountId>` for an account that the post names; a post is listed once per account */
      _id: string
      postId: string
      platform: components['schemas']['Platform']
      /** @description The account, if the post names it */
      accountId?: string
      /** Format: date-time */
      snapshotAt: string
      metrics: {
        likes: number | null
        shares: number | null
        comments: number | null
        impressions: number | null
        reach: number | null
        saved: number | null
      }
      derived: {
        totalEngagement: number | null
        engagementRate: number | null
        virality: number | null
      }
      postDetails: {
        content: components['schemas']['PostContent']
        /** @description Overrides by platform */
        platformSpecificContent: {
          bluesky?: components['schemas']['PostContentOverride']
          threads?: components['schemas']['PostContentOverride']
          instagram?: components['schemas']['PostContentOverride']
          facebook?: components['schemas']['PostContentOverride']
          mastodon?: components['schemas']['PostContentOverride']
          tumblr?: components['schemas']['PostContentOverride']
        }
        platformStatuses: components['schemas']['PlatformStatus'][]
        /** Format: date-time */
        createdAt: string
        /** @description Only in lists: the post is too large for its page. It has the beginning of its text, without `platformSpecificContent`, `segments`, `firstComment`, `parts` and alt texts. Get the post by its id to read all of it. */
        isShortened?: boolean
      }
    }
    TumblrOptions: {
      /** @description Tags besides the hashtags of the text */
      tags?: string[]
      /**
       * Format: uri
       * @description The source to credit
       */
      sourceUrl?: string
      /**
       * @description `private`: only members of the blog see it; `published` by default
       * @enum {string}
       */
      state?: 'published' | 'private'
    }
    UpcomingSlot: {
      /** @description The account that has these slots */
      accountId?: string
      /** @description The group that has these slots */
      groupId?: string
      /** Format: date-time */
      at: string
      postId: string | null
    }
    UpdatedPost: {
      /** @example 6824b1f7c0a9d3e5f1a2b3c4 */
      postId: string
      status: components['schemas']['PostStatus']
      scheduledAt: string | null
      dueAt: string | null
      /** @description Problems that do not reject the post but may make its delivery fail */
      warnings: components['schemas']['Problem'][]
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
    }
    UpdateGroup: {
      /**
       * @description 1 to 60 characters, unique among your groups in any letter case
       * @example Northern brand
       */
      name?: string
      /** @example #228be6 */
      color?: string
      /** @description Ids of connected accounts, which may be in several groups. A disconnected account leaves its groups. */
      accountIds?: string[]
    }
    UpdatePost: {
      content?: {
        /** @example Good morning, everyone */
        text?: string
        /** @description At most 20; each platform has its own, lower limit */
        mediaItems?: components['schemas']['MediaItemInput'][]
        /**
         * @description Further posts of a thread, each a reply to the one before; at most 25
         * @example [
         *       {
         *         "text": "Second post of the thread"
         *       }
         *     ]
         */
        segments?: components['schemas']['SegmentInput'][]
        /** @description A comment or reply of yours below the published post. Its failure is no failure of the post. */
        firstComment?: string
        /**
         * @description On platforms that publish no `segments` or no `firstComment`: `refuse` the post (the default), `join` the texts to one post, or `skipPlatform`
         * @enum {string}
         */
        onUnsupported?: 'refuse' | 'join' | 'skipPlatform'
        options?: components['schemas']['PostOptions']
        /**
         * @description The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.
         * @example auto
         * @example {
         *       "url": "https://example.com/article",
         *       "title": "How we built it"
         *     }
         */
        link?: components['schemas']['LinkMode'] | components['schemas']['LinkCardInput']
      }
      /**
       * @description Publishes on the default account of each. At least one platform, account or group is required. In an update, a platform that the post has only through accounts or groups means those.
       * @example [
       *       "bluesky"
       *     ]
       */
      selectedPlatforms?: components['schemas']['Platform'][]
      /** @description Ids of further accounts to publish on (`GET /api/platform/accounts`). An update of the platforms without it keeps the accounts on those that stay. */
      selectedAccounts?: string[]
      /**
       * @description Ids or names of groups (`GET /api/groups`) to publish on the accounts that they have now. An account counts once, however often it is selected. `updatePost` reads the groups that it names again, and `replacePost` only those that the post did not have.
       * @example [
       *       "Northern brand"
       *     ]
       */
      selectedGroups?: string[]
      /**
       * @description Per platform, replaces the same part of `content`
       * @example {
       *       "bluesky": {
       *         "text": "Good morning, Bluesky"
       *       }
       *     }
       */
      platformSpecificContent?: {
        bluesky?: components['schemas']['OverrideInput']
        threads?: components['schemas']['OverrideInput']
        instagram?: components['schemas']['OverrideInput']
        facebook?: components['schemas']['OverrideInput']
        mastodon?: components['schemas']['OverrideInput']
        tumblr?: components['schemas']['OverrideInput']
      }
      /** @description Per account id, replaces the same part of `platformSpecificContent` and `content` */
      accountSpecificContent?: {
        [key: string]: components['schemas']['OverrideInput']
      }
      /**
       * @description ISO 8601. A value with an offset or zone is an instant; without one it is local time in `timezone`. `next-slot` is the next free slot of the first group, account or platform of the post that has slots (`PUT /api/slots`); a draft takes none. Null publishes now. A past time publishes now in `createPost` without `past=refuse`; everything else refuses it.
       * @example 2027-05-01T09:30:00+02:00
       * @example 2027-05-01T09:30
       */
      scheduledAt?: string | null
      /**
       * @description How long an immediate post waits before it is published, in place of your setting. It can be cancelled and edited meanwhile. Drafts and scheduled posts ignore it; an update of a waiting post begins the wait anew.
       * @example 30
       */
      holdSeconds?: number
      /** @description What becomes of the post if nothing of it could be sent in time; null, as by default, sends it late */
      ifLate?: components['schemas']['IfLate'] | null
      /**
       * @description IANA timezone
       * @example Europe/Berlin
       */
      timezone?: string
      /**
       * @description DRAFT prevents publication. PENDING and SCHEDULED are equivalent: `scheduledAt` decides between them.
       * @enum {string}
       */
      status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
    }
    UpdateWebhook: {
      /**
       * @description An https address of a public server on port 443, without user name, password and fragment
       * @example https://example.com/hooks/postonce
       */
      url?: string
      /** @description The types of events to deliver; empty for all types */
      events?: components['schemas']['EventType'][]
      description?: string
      /** @description An enabled webhook gets the events from then on */
      enabled?: boolean
    }
    User: {
      id: string
      _id: string
      email: string
      name: string
      /** @enum {string} */
      role: 'user' | 'admin'
      avatar: string | null
      timezone: string
      /** @description How long immediate posts wait before they are published */
      holdSeconds: number
      auth: {
        /**
         * @description Only `email` accounts have a password that can be changed.
         * @enum {string}
         */
        provider: 'email' | 'google'
      }
      subscription: {
        /** @enum {string} */
        plan: 'free' | 'pro'
        /** @enum {string} */
        status: 'active' | 'cancelled' | 'pastDue'
        processorCustomerId: string | null
        processorSubscriptionId: string | null
        currentPeriodStart: string | null
        currentPeriodEnd: string | null
        cancelAtPeriodEnd: boolean
      }
      usage: {
        postsCreated: number
        captionGenerations: number
      }
      limits: {
        maxPosts: number
        maxCaptionGenerations: number
      }
    }
    UserActivity: {
      /** @description False disables the account and ends all of its sessions immediately */
      activity: boolean
    }
    UserLimits: {
      maxPosts: number
      maxCaptionGenerations: number
    }
    UserRecord: {
      id: string
      _id: string
      email: string
      name: string
      /** @enum {string} */
      role: 'user' | 'admin'
      avatar: string | null
      timezone: string
      /** @description How long immediate posts wait before they are published */
      holdSeconds: number
      auth: {
        /**
         * @description Only `email` accounts have a password that can be changed.
         * @enum {string}
         */
        provider: 'email' | 'google'
      }
      subscription: {
        /** @enum {string} */
        plan: 'free' | 'pro'
        /** @enum {string} */
        status: 'active' | 'cancelled' | 'pastDue'
        processorCustomerId: string | null
        processorSubscriptionId: string | null
        currentPeriodStart: string | null
        currentPeriodEnd: string | null
        cancelAtPeriodEnd: boolean
      }
      usage: {
        postsCreated: number
        captionGenerations: number
      }
      limits: {
        maxPosts: number
        maxCaptionGenerations: number
      }
      isDisabled: boolean
      /** Format: date-time */
      createdAt: string
      lastLogin: string | null
    }
    UserStatistics: {
      totalUsers: number
      activeUsers: number
      inactiveUsers: number
      paidUsers: number
      /** @description Users created in this UTC month against those of the month before, as a change in percent with two decimals. If the month before has none: 100 if this month has any, else 0 */
      monthlyGrowth: number
      /**
       * @description Free when both plans have the same number of users
       * @enum {string}
       */
      topPlan: 'Free' | 'Professional'
    }
    UserTag: {
      /** @description Without @ */
      username: string
      /** @description Index in the media of the post; 0 by default */
      mediaItem?: number
      /** @description Part of the width from the left; required in images */
      x?: number
      /** @description Part of the height from the top; required in images */
      y?: number
    }
    ValidationReport: {
      valid: boolean
      errors: components['schemas']['Problem'][]
      warnings: components['schemas']['Problem'][]
      platforms: {
        [key: string]: components['schemas']['PlatformReport']
      }
      /** @description By id, of selected accounts and groups */
      accounts?: {
        [key: string]: components['schemas']['PlatformReport']
      }
      /**
       * Format: date-time
       * @description The slot that a post for the next slot would take now
       */
      nextSlot?: string
    }
    VerifyCode: {
      /** Format: email */
      email: string
      otp: string
    }
    WaitingDeliveries: {
      /**
       * @description `NOT_STARTED`, `SENDING`, `RECONCILING` (the outcome of a call is unknown), `SERVER_UNREACHABLE`, or the error code of the last attempt
       * @enum {string}
       */
      reason:
        | 'NOT_STARTED'
        | 'SENDING'
        | 'RECONCILING'
        | 'SERVER_UNREACHABLE'
        | 'unauthorized'
        | 'permission'
        | 'rate_limited'
        | 'not_found'
        | 'validation'
        | 'media_not_ready'
        | 'media_fetch_failed'
        | 'duplicate'
        | 'blocked_by_platform'
        | 'transient'
        | 'PLATFORM_NOT_CONNECTED'
        | 'PLATFORM_NOT_SUPPORTED'
        | 'ACCOUNT_DISABLED'
        | 'OUTCOME_UNKNOWN'
        | 'MEDIA_UNAVAILABLE'
        | 'TOO_LATE'
        | 'SKIPPED'
        | 'QUOTA_EXCEEDED'
        | 'CANCELLED'
        | 'INTERNAL'
      deliveries: number
      /** Format: date-time */
      oldestDueAt: string
    }
    Webhook: {
      id: string
      /**
       * @description An https address of a public server on port 443, without user name, password and fragment
       * @example https://example.com/hooks/postonce
       */
      url: string
      /** @description The types of events to deliver; empty for all types */
      events: components['schemas']['EventType'][]
      description: string
      enabled: boolean
      disabledReason: ('user' | 'gone' | 'failing') | null
      disabledAt: string | null
      failingSince: string | null
      pausedUntil: string | null
      lastDeliveredAt: string | null
      oldSecretValidUntil: string | null
      /** Format: date-time */
      createdAt: string
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
    }
    WebhookDelivery: {
      id: string
      /** @description The `webhook-id` of every attempt */
      eventId: string
      /** @enum {string} */
      eventType:
        | 'post.created'
        | 'post.scheduled'
        | 'post.published'
        | 'post.partial'
        | 'post.failed'
        | 'post.cancelled'
        | 'post.deleted'
        | 'delivery.accepted'
        | 'delivery.failed'
        | 'delivery.unknown'
        | 'delivery.deleted'
        | 'delivery.edited'
        | 'account.connected'
        | 'account.expiring'
        | 'account.expired'
        | 'account.disconnected'
        | 'plan.changed'
        | 'analytics.collected'
        | 'webhook.test'
      /** @description The sequence of the event in the feed; 0 for a test event */
      sequence: number
      state: components['schemas']['WebhookDeliveryState']
      /** @description The attempts since the delivery was last requested */
      attemptCount: number
      nextAttemptAt: string | null
      /** @description The beginning of the request body, at most 1024 bytes */
      request: string
      /** @description The latest attempts, at most 20, oldest first */
      attempts: components['schemas']['DeliveryAttempt'][]
      /** Format: date-time */
      createdAt: string
    }
    WebhookDeliveryList: {
      deliveries: components['schemas']['WebhookDelivery'][]
      total: number
      page: number
      limit: number
      totalPages: number
    }
    /**
     * @description `failed`: no further attempt is made unless it is requested
     * @enum {string}
     */
    WebhookDeliveryState: 'pending' | 'delivered' | 'failed'
    WebhookWithSecret: {
      id: string
      /**
       * @description An https address of a public server on port 443, without user name, password and fragment
       * @example https://example.com/hooks/postonce
       */
      url: string
      /** @description The types of events to deliver; empty for all types */
      events: components['schemas']['EventType'][]
      description: string
      enabled: boolean
      disabledReason: ('user' | 'gone' | 'failing') | null
      disabledAt: string | null
      failingSince: string | null
      pausedUntil: string | null
      lastDeliveredAt: string | null
      oldSecretValidUntil: string | null
      /** Format: date-time */
      createdAt: string
      /**
       * @description The version of the record, for `If-Match`
       * @example "3"
       */
      etag: string
      /** @description The signing secret. Store it now: only creation and rotation return it. */
      secret: string
    }
  }
  responses: {
    /** @description `ACCOUNT_DISABLED` */
    AccountDisabled: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'ACCOUNT_DISABLED'
          /** @enum {integer} */
          statusCode?: 403
        }
      }
    }
    /** @description `ADDRESS_TAKEN` */
    AddressTaken: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'ADDRESS_TAKEN'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `ALREADY_SUBSCRIBED` */
    AlreadySubscribed: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'ALREADY_SUBSCRIBED'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `CAPTION_PROVIDER_FAILED` */
    CaptionProviderFailed: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'CAPTION_PROVIDER_FAILED'
          /** @enum {integer} */
          statusCode?: 502
        }
      }
    }
    /** @description `EVENTS_EXPIRED` */
    EventsExpired: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'EVENTS_EXPIRED'
          /** @enum {integer} */
          statusCode?: 410
        }
      }
    }
    /** @description `FORBIDDEN` */
    Forbidden: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'FORBIDDEN'
          /** @enum {integer} */
          statusCode?: 403
        }
      }
    }
    /** @description `GROUP_NAME_TAKEN` */
    GroupNameTaken: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'GROUP_NAME_TAKEN'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `IMPORT_STATE` */
    ImportState: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'IMPORT_STATE'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `INTERNAL` */
    Internal: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'INTERNAL'
          /** @enum {integer} */
          statusCode?: 500
        }
      }
    }
    /** @description `INVALID_CREDENTIALS` */
    InvalidCredentials: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        'WWW-Authenticate': components['headers']['WWW-Authenticate']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'INVALID_CREDENTIALS'
          /** @enum {integer} */
          statusCode?: 401
        }
      }
    }
    /** @description `LINK_UNREADABLE` */
    LinkUnreadable: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'LINK_UNREADABLE'
          /** @enum {integer} */
          statusCode?: 422
        }
      }
    }
    /** @description `MEDIA_IN_USE` */
    MediaInUse: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'MEDIA_IN_USE'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `MEDIA_UNREADABLE` */
    MediaUnreadable: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'MEDIA_UNREADABLE'
          /** @enum {integer} */
          statusCode?: 422
        }
      }
    }
    /** @description `NOT_FOUND` */
    NotFound: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'NOT_FOUND'
          /** @enum {integer} */
          statusCode?: 404
        }
      }
    }
    /** @description `OWN_ACCOUNT` */
    OwnAccount: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'OWN_ACCOUNT'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `PAYLOAD_TOO_LARGE` */
    PayloadTooLarge: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'PAYLOAD_TOO_LARGE'
          /** @enum {integer} */
          statusCode?: 413
        }
      }
    }
    /** @description `PAYMENTS_UNAVAILABLE` */
    PaymentsUnavailable: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'PAYMENTS_UNAVAILABLE'
          /** @enum {integer} */
          statusCode?: 502
        }
      }
    }
    /** @description `PLATFORM_NOT_CONNECTED` */
    PlatformNotConnected: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'PLATFORM_NOT_CONNECTED'
          /** @enum {integer} */
          statusCode?: 400
        }
      }
    }
    /** @description `PLATFORM_UNAVAILABLE` */
    PlatformUnavailable: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'PLATFORM_UNAVAILABLE'
          /** @enum {integer} */
          statusCode?: 502
        }
      }
    }
    /** @description `POST_IN_PROGRESS` */
    PostInProgress: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'POST_IN_PROGRESS'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `POST_NOT_EDITABLE` */
    PostNotEditable: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'POST_NOT_EDITABLE'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `PRECONDITION_FAILED` */
    PreconditionFailed: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'PRECONDITION_FAILED'
          /** @enum {integer} */
          statusCode?: 412
        }
      }
    }
    /** @description `RATE_LIMITED` */
    RateLimited: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        'Retry-After': components['headers']['Retry-After']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'RATE_LIMITED'
          /** @enum {integer} */
          statusCode?: 429
        }
      }
    }
    /** @description `RECONNECT_REQUIRED` */
    ReconnectRequired: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'RECONNECT_REQUIRED'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
    /** @description `REQUEST_TIMEOUT` */
    RequestTimeout: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'REQUEST_TIMEOUT'
          /** @enum {integer} */
          statusCode?: 408
        }
      }
    }
    /** @description `SERVICE_UNAVAILABLE` */
    ServiceUnavailable: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        'Retry-After': components['headers']['Retry-After']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'SERVICE_UNAVAILABLE'
          /** @enum {integer} */
          statusCode?: 503
        }
      }
    }
    /** @description `UNAUTHORIZED` */
    Unauthorized: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        'WWW-Authenticate': components['headers']['WWW-Authenticate']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'UNAUTHORIZED'
          /** @enum {integer} */
          statusCode?: 401
        }
      }
    }
    /** @description `UNSUPPORTED_MEDIA_TYPE` */
    UnsupportedMediaType: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'UNSUPPORTED_MEDIA_TYPE'
          /** @enum {integer} */
          statusCode?: 415
        }
      }
    }
    /** @description `UPGRADE_REQUIRED` */
    UpgradeRequired: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'UPGRADE_REQUIRED'
          /** @enum {integer} */
          statusCode?: 426
        }
      }
    }
    /** @description `VALIDATION_FAILED` */
    ValidationFailed: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'VALIDATION_FAILED'
          /** @enum {integer} */
          statusCode?: 400
        }
      }
    }
    /** @description `WEBHOOK_DISABLED` */
    WebhookDisabled: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id']
        RateLimit: components['headers']['RateLimit']
        'RateLimit-Policy': components['headers']['RateLimit-Policy']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          code?: 'WEBHOOK_DISABLED'
          /** @enum {integer} */
          statusCode?: 409
        }
      }
    }
  }
  parameters: never
  requestBodies: never
  headers: {
    /** @description Identifies the request in the logs of the service */
    'X-Request-Id': string
    /** @description Remaining requests of each limit: `"user";r=299;t=60` means 299 requests in the next 60 seconds */
    RateLimit: string
    /** @description Limits that count this request: `"user";q=300;w=60` means 300 requests in 60 seconds */
    'RateLimit-Policy': string
    /** @description Seconds to wait before the next request */
    'Retry-After': number
    /** @description Version of the response, for `If-None-Match` or `If-Match` */
    ETag: string
    /** @description The authentication scheme */
    'WWW-Authenticate': string
    /** @description Sets or clears a cookie that only the API reads */
    'Set-Cookie': string
    /** @description URL where the browser continues */
    Location: string
    /** @description The file name of a download */
    'Content-Disposition': string
  }
  pathItems: never
}
export type $defs = Record<string, never>
export interface operations {
  checkLive: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              /** @enum {string} */
              status: 'ok'
            }
          }
        }
      }
      /** @description `INTERNAL` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'INTERNAL'
            /** @enum {integer} */
            statusCode?: 500
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'SERVICE_UNAVAILABLE'
            /** @enum {integer} */
            statusCode?: 503
          }
        }
      }
    }
  }
  checkReady: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              /** @enum {string} */
              status: 'ok'
            }
          }
        }
      }
      /** @description `INTERNAL` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'INTERNAL'
            /** @enum {integer} */
            statusCode?: 500
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'SERVICE_UNAVAILABLE'
            /** @enum {integer} */
            statusCode?: 503
          }
        }
      }
    }
  }
  checkDelivery: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              /** @enum {string} */
              status: 'ok'
            }
          }
        }
      }
      /** @description `INTERNAL` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'INTERNAL'
            /** @enum {integer} */
            statusCode?: 500
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'SERVICE_UNAVAILABLE'
            /** @enum {integer} */
            statusCode?: 503
          }
        }
      }
    }
  }
  logIn: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['LogIn']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['LoggedIn']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['InvalidCredentials']
      403: components['responses']['AccountDisabled']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  logInAsAdmin: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['LogIn']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['LoggedIn']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['InvalidCredentials']
      403: components['responses']['AccountDisabled']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshSession: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              accessToken: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `FORBIDDEN`, `ACCOUNT_DISABLED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'FORBIDDEN' | 'ACCOUNT_DISABLED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  logOut: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  logOutEverywhere: {
    parameters: {
      query?: {
        /** @description Whether the API keys end as well */
        apiKeys?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getMe: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              user: components['schemas']['User']
            }
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  requestCode: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['EmailAddress']
      }
    }
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  verifyCode: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['VerifyCode']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              email: string
              /** @description Proves the verified address; sign up with it within 15 minutes. Also set as a cookie, and accepted in the header `X-Verification-Token`. */
              verificationToken: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `OTP_INVALID` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'OTP_INVALID'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  signUp: {
    parameters: {
      query?: never
      header?: {
        /** @description Proves the verified address; sign up with it within 15 minutes. Also set as a cookie, and accepted in the header `X-Verification-Token`. */
        'x-verification-token'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['SignUp']
      }
    }
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['LoggedIn']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `ADDRESS_NOT_VERIFIED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'ADDRESS_NOT_VERIFIED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      403: components['responses']['Forbidden']
      408: components['responses']['RequestTimeout']
      409: components['responses']['AddressTaken']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  requestPasswordReset: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['EmailAddress']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  resetPassword: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['ResetPassword']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `RESET_TOKEN_INVALID` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'RESET_TOKEN_INVALID'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  beginGoogleLogin: {
    parameters: {
      query?: {
        /**
         * @description IANA timezone of the new account; without one, or with an unknown one, it has UTC
         * @example Europe/Berlin
         */
        timezone?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Redirects to Google, or to `{frontend}/login?error=google_auth_failed` */
      302: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          Location: components['headers']['Location']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  finishGoogleLogin: {
    parameters: {
      query?: {
        /** @description Identifies the attempt */
        state?: string
        /** @description The authorization code; present when the user agreed */
        code?: string
        /** @description The reason why there is no code */
        error?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Redirects to `{frontend}/auth/callback#accessToken=..` with the refresh cookie, or to `{frontend}/login?error=email_exists_different_provider|no_email|google_auth_failed|session_expired` */
      302: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          Location: components['headers']['Location']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  listDevices: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Device'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  logOutDevice: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        tokenId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  finishMastodonConnection: {
    parameters: {
      query?: {
        /** @description Identifies the attempt */
        state?: string
        /** @description The authorization code; present when the user agreed */
        code?: string
        /** @description The reason why there is no code */
        error?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Redirects to `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid` with `&reason=DENIED|LOGIN_REFUSED|MISSING_PERMISSION|NO_PAGE|ACCOUNT_ALREADY_CONNECTED|ACCOUNT_LIMIT_REACHED|PLATFORM_UNAVAILABLE|ATTEMPT_INVALID|INTERNAL`; with `&offer=<id>` when the login has several accounts (`getAccountOffer`) */
      302: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          Location: components['headers']['Location']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  finishTumblrConnection: {
    parameters: {
      query?: {
        /** @description Identifies the attempt */
        state?: string
        /** @description The authorization code; present when the user agreed */
        code?: string
        /** @description The reason why there is no code */
        error?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Redirects to `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid` with `&reason=DENIED|LOGIN_REFUSED|MISSING_PERMISSION|NO_PAGE|ACCOUNT_ALREADY_CONNECTED|ACCOUNT_LIMIT_REACHED|PLATFORM_UNAVAILABLE|ATTEMPT_INVALID|INTERNAL`; with `&offer=<id>` when the login has several accounts (`getAccountOffer`) */
      302: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          Location: components['headers']['Location']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  finishThreadsConnection: {
    parameters: {
      query?: {
        /** @description Identifies the attempt */
        state?: string
        /** @description The authorization code; present when the user agreed */
        code?: string
        /** @description The reason why there is no code */
        error?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Redirects to `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid` with `&reason=DENIED|LOGIN_REFUSED|MISSING_PERMISSION|NO_PAGE|ACCOUNT_ALREADY_CONNECTED|ACCOUNT_LIMIT_REACHED|PLATFORM_UNAVAILABLE|ATTEMPT_INVALID|INTERNAL`; with `&offer=<id>` when the login has several accounts (`getAccountOffer`) */
      302: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          Location: components['headers']['Location']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  finishFacebookConnection: {
    parameters: {
      query?: {
        /** @description Identifies the attempt */
        state?: string
        /** @description The authorization code; present when the user agreed */
        code?: string
        /** @description The reason why there is no code */
        error?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Redirects to `{frontend}/settings?success=<p>_connected`, or `?error=<p>_auth_failed|<p>_connect_failed|<p>_state_invalid` with `&reason=DENIED|LOGIN_REFUSED|MISSING_PERMISSION|NO_PAGE|ACCOUNT_ALREADY_CONNECTED|ACCOUNT_LIMIT_REACHED|PLATFORM_UNAVAILABLE|ATTEMPT_INVALID|INTERNAL`; with `&offer=<id>` when the login has several accounts (`getAccountOffer`) */
      302: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          Location: components['headers']['Location']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
  receivePaymentEvent: {
    parameters: {
      query?: never
      header?: {
        /** @description Required: timestamp and HMAC of the body */
        'stripe-signature'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['PaymentEvent']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            received: true
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `WEBHOOK_INVALID` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'WEBHOOK_INVALID'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      /** @description `REQUEST_TIMEOUT` */
      408: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'REQUEST_TIMEOUT'
            /** @enum {integer} */
            statusCode?: 408
          }
        }
      }
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'PAYLOAD_TOO_LARGE'
            /** @enum {integer} */
            statusCode?: 413
          }
        }
      }
      /** @description `UNSUPPORTED_MEDIA_TYPE` */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'UNSUPPORTED_MEDIA_TYPE'
            /** @enum {integer} */
            statusCode?: 415
          }
        }
      }
      /** @description `INTERNAL` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'INTERNAL'
            /** @enum {integer} */
            statusCode?: 500
          }
        }
      }
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'SERVICE_UNAVAILABLE'
            /** @enum {integer} */
            statusCode?: 503
          }
        }
      }
    }
  }
  streamNotifications: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The connection is now a WebSocket */
      101: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content?: never
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      426: components['responses']['UpgradeRequired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listApiKeys: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['ApiKey'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  createApiKey: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "name": "Nightly import",
         *       "scopes": [
         *         "posts:draft"
         *       ],
         *       "expiresAt": null
         *     }
         */
        'application/json': components['schemas']['CreateApiKey']
      }
    }
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['CreatedApiKey']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `API_KEY_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'API_KEY_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getCurrentApiKey: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['CurrentApiKey']
          }
        }
      }
      401: components['responses']['Unauthorized']
      403: components['responses']['AccountDisabled']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deleteApiKey: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        keyId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listPosts: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
        /** @description Posts in any of these statuses */
        status?: components['schemas']['PostStatus'][]
        /** @description Posts with a failed delivery that neither the user cancelled nor a submitted duplicate replaced */
        unresolved?: 'true'
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Posts for any of these accounts, by their ids, also of accounts that are no longer connected */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `web` when the request had an `Origin` */
        source?: components['schemas']['PostSource']
        /** @description Posts that any of these wrote */
        client?: components['schemas']['PostClient'][]
        /** @description Earliest date-time, or the start of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        from?: string
        /** @description Latest date-time, or the end of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        to?: string
        /**
         * @description Case-insensitive text to search for in the posts and their threads
         * @example launch
         */
        q?: string
        /** @description `metrics` adds the latest metrics of each post and reduces a `limit` above 50 to 50. */
        include?: 'metrics'
        /** @description `date` is the field that `from` and `to` filter on: `scheduledAt`, or `createdAt` when the post has no time. */
        sortBy?: 'createdAt' | 'scheduledAt' | 'date'
        sortOrder?: 'asc' | 'desc'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PostList']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  createPost: {
    parameters: {
      query?: {
        /** @description What a past `scheduledAt` means unless the post is a draft; `publish` by default */
        past?: 'publish' | 'refuse'
      }
      header?: {
        /** @description `handling=strict` refuses fields that the API does not know. API keys always do. */
        prefer?: string
        /** @description The program that writes the post */
        'x-postonce-client'?: 'console' | 'cli' | 'mcp' | 'sdk'
        /** @description A repeated request with the same key and body returns the first response. */
        'idempotency-key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "content": {
         *         "text": "Good morning, everyone"
         *       },
         *       "selectedPlatforms": [
         *         "bluesky"
         *       ],
         *       "scheduledAt": "2027-05-01T09:30",
         *       "timezone": "Europe/Berlin"
         *     }
         */
        'application/json': components['schemas']['CreatePost']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['CreatedPost']
          }
        }
      }
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['CreatedPost']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `IDEMPOTENCY_KEYS_DIFFER` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'IDEMPOTENCY_KEYS_DIFFER'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `POST_LIMIT_REACHED`, `UPLOAD_QUOTA_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'POST_LIMIT_REACHED' | 'UPLOAD_QUOTA_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      /** @description `IDEMPOTENCY_MISMATCH`, `MEDIA_UNREADABLE` */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'IDEMPOTENCY_MISMATCH' | 'MEDIA_UNREADABLE'
            /** @enum {integer} */
            statusCode?: 422
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  validatePost: {
    parameters: {
      query?: {
        /** @description What a past `scheduledAt` means unless the post is a draft; `publish` by default */
        past?: 'publish' | 'refuse'
      }
      header?: {
        /** @description `handling=strict` refuses fields that the API does not know. API keys always do. */
        prefer?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "content": {
         *         "text": "Good morning, everyone"
         *       },
         *       "selectedPlatforms": [
         *         "bluesky"
         *       ],
         *       "scheduledAt": "2027-05-01T09:30",
         *       "timezone": "Europe/Berlin"
         *     }
         */
        'application/json': components['schemas']['CreatePost']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['ValidationReport']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  previewLink: {
    parameters: {
      query: {
        /**
         * @description The address of a public page
         * @example https://example.com/article
         */
        url: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['LinkPreview']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      422: components['responses']['LinkUnreadable']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  countPosts: {
    parameters: {
      query: {
        /** @description Posts in any of these statuses */
        status?: components['schemas']['PostStatus'][]
        /** @description Posts with a failed delivery that neither the user cancelled nor a submitted duplicate replaced */
        unresolved?: 'true'
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Posts for any of these accounts, by their ids, also of accounts that are no longer connected */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `web` when the request had an `Origin` */
        source?: components['schemas']['PostSource']
        /** @description Posts that any of these wrote */
        client?: components['schemas']['PostClient'][]
        /** @description Earliest date-time, or the start of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        from: string
        /** @description Latest date-time, or the end of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        to: string
        /**
         * @description Case-insensitive text to search for in the posts and their threads
         * @example launch
         */
        q?: string
        /**
         * @description IANA timezone of dates and days; yours by default
         * @example Europe/Berlin
         */
        timezone?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PostCounts']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getCalendar: {
    parameters: {
      query: {
        /** @description Posts in any of these statuses */
        status?: components['schemas']['PostStatus'][]
        /** @description Posts with a failed delivery that neither the user cancelled nor a submitted duplicate replaced */
        unresolved?: 'true'
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Posts for any of these accounts, by their ids, also of accounts that are no longer connected */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `web` when the request had an `Origin` */
        source?: components['schemas']['PostSource']
        /** @description Posts that any of these wrote */
        client?: components['schemas']['PostClient'][]
        /** @description Earliest date-time, or the start of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        from: string
        /** @description Latest date-time, or the end of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        to: string
        /**
         * @description Case-insensitive text to search for in the posts and their threads
         * @example launch
         */
        q?: string
        /**
         * @description IANA timezone of dates and days; yours by default
         * @example Europe/Berlin
         */
        timezone?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Calendar']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getPost: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PostDetail']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  replacePost: {
    parameters: {
      query?: never
      header?: {
        /** @description `handling=strict` refuses fields that the API does not know. API keys always do. */
        prefer?: string
        /** @description The `etag` of the last reading; the request is refused with 412 if the record has changed since */
        'if-match'?: string
      }
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "content": {
         *         "text": "Good morning, everyone"
         *       },
         *       "selectedPlatforms": [
         *         "bluesky"
         *       ],
         *       "scheduledAt": "2027-05-01T09:30",
         *       "timezone": "Europe/Berlin"
         *     }
         */
        'application/json': components['schemas']['ReplacePost']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['UpdatedPost']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `UPLOAD_QUOTA_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'UPLOAD_QUOTA_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['PostNotEditable']
      /** @description `PRECONDITION_FAILED` */
      412: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PostConflict'] & {
            /** @enum {string} */
            code?: 'PRECONDITION_FAILED'
            /** @enum {integer} */
            statusCode?: 412
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      422: components['responses']['MediaUnreadable']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deletePost: {
    parameters: {
      query?: never
      header?: {
        /** @description The `etag` of the last reading; the request is refused with 412 if the record has changed since */
        'if-match'?: string
      }
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              postId: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      /** @description `PRECONDITION_FAILED` */
      412: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PostConflict'] & {
            /** @enum {string} */
            code?: 'PRECONDITION_FAILED'
            /** @enum {integer} */
            statusCode?: 412
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updatePost: {
    parameters: {
      query?: never
      header?: {
        /** @description `handling=strict` refuses fields that the API does not know. API keys always do. */
        prefer?: string
        /** @description The `etag` of the last reading; the request is refused with 412 if the record has changed since */
        'if-match'?: string
      }
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "content": {
         *         "text": "Good evening, everyone"
         *       }
         *     }
         */
        'application/json': components['schemas']['UpdatePost']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['UpdatedPost']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `UPLOAD_QUOTA_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'UPLOAD_QUOTA_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['PostNotEditable']
      /** @description `PRECONDITION_FAILED` */
      412: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['PostConflict'] & {
            /** @enum {string} */
            code?: 'PRECONDITION_FAILED'
            /** @enum {integer} */
            statusCode?: 412
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      422: components['responses']['MediaUnreadable']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getPostStatus: {
    parameters: {
      query?: never
      header?: {
        /** @description The ETag of the last response; returns 304 while the status is unchanged */
        'if-none-match'?: string
      }
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PostProgress']
          }
        }
      }
      /** @description The status has not changed */
      304: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content?: never
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getPostTimeline: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PostTimeline']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  takeBackPost: {
    parameters: {
      query?: {
        /** @description Only on these accounts, by their ids */
        accounts?: string[]
      }
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['ChangedPublication']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      /** @description `NOTHING_PUBLISHED`, `POST_IN_PROGRESS` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'NOTHING_PUBLISHED' | 'POST_IN_PROGRESS'
            /** @enum {integer} */
            statusCode?: 409
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  editPublishedPost: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "content": {
         *         "text": "Good evening, everyone"
         *       }
         *     }
         */
        'application/json': components['schemas']['EditPublished']
      }
    }
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['ChangedPublication']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['PostNotEditable']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  retryPost: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: {
      content: {
        'application/json': components['schemas']['RetryPost']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              postId: string
              /** @description Each platform once, also when several of its accounts are retried */
              retryingPlatforms: components['schemas']['Platform'][]
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `NO_FAILED_PLATFORMS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'NO_FAILED_PLATFORMS'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `POST_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'POST_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['PostInProgress']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  cancelPost: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: {
      content: {
        'application/json': components['schemas']['CancelPost']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              postId: string
              status: components['schemas']['PostStatus']
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  duplicatePost: {
    parameters: {
      query?: never
      header?: {
        /** @description The program that writes the post */
        'x-postonce-client'?: 'console' | 'cli' | 'mcp' | 'sdk'
      }
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['CreatedPost']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `POST_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'POST_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['PostInProgress']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  requestMediaUpload: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /**
           * @description Allowed values: image/png, image/jpeg, image/jpg, image/webp, video/mp4, video/quicktime
           * @example image/jpeg
           */
          contentType: string
          /** @description Exact size of the upload. Without it, a file above the size limit of its type is deleted after the upload. */
          sizeBytes?: number
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['MediaUpload']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `INVALID_MEDIA_TYPE` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'INVALID_MEDIA_TYPE'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `UPLOAD_QUOTA_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'UPLOAD_QUOTA_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listMedia: {
    parameters: {
      query?: {
        kind?: 'image' | 'video'
        /** @description Whether a post uses it */
        used?: 'true' | 'false'
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              media: components['schemas']['LibraryMedia'][]
              /** @description Bytes of uploads that no post or profile uses */
              quota: {
                used: number
                limit: number
              }
              total: number
              page: number
              limit: number
              totalPages: number
            }
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getMedia: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        mediaId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['LibraryMedia']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deleteMedia: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        mediaId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['MediaInUse']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listImports: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  planImport: {
    parameters: {
      query?: {
        /** @description Posts of an account that are closer than this are a conflict; 0 allows any distance */
        gapMinutes?: number
        /** @description IANA timezone of rows without one */
        timezone?: string
        /** @description The order of day, month and year in a CSV file whose dates do not begin with the year */
        dateOrder?: 'dmy' | 'mdy'
      }
      header?: {
        /** @description `handling=strict` refuses unknown columns. They are always refused for API keys. */
        prefer?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['ImportPost'][]
        /**
         * @example text,platforms,scheduledAt
         *     Good morning,bluesky,2027-05-01T09:30:00Z
         */
        'text/csv': string
      }
    }
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `IMPORT_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'IMPORT_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getImport: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deleteImport: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listImportRows: {
    parameters: {
      query?: {
        status?: ('ready' | 'warning' | 'conflict' | 'error' | 'created' | 'skipped' | 'failed')[]
        /** @description `nextCursor` of the page before */
        cursor?: string
        limit?: number
      }
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              rows: components['schemas']['ImportRow'][]
              nextCursor: string | null
            }
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  applyImport: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: {
      content: {
        'application/json': components['schemas']['ApplyImport']
      }
    }
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      /** @description `IMPORT_STATE`, `IMPORT_HAS_ERRORS` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'IMPORT_STATE' | 'IMPORT_HAS_ERRORS'
            /** @enum {integer} */
            statusCode?: 409
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  pauseImport: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['ImportState']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  resumeImport: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['ImportState']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  cancelImport: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        importId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Import']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['ImportState']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  exportPosts: {
    parameters: {
      query?: {
        format?: 'json' | 'csv'
        /** @description Posts in any of these statuses */
        status?: components['schemas']['PostStatus'][]
        /** @description Posts with a failed delivery that neither the user cancelled nor a submitted duplicate replaced */
        unresolved?: 'true'
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Posts for any of these accounts, by their ids, also of accounts that are no longer connected */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `web` when the request had an `Origin` */
        source?: components['schemas']['PostSource']
        /** @description Posts that any of these wrote */
        client?: components['schemas']['PostClient'][]
        /** @description Earliest date-time, or the start of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        from?: string
        /** @description Latest date-time, or the end of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        to?: string
        /**
         * @description Case-insensitive text to search for in the posts and their threads
         * @example launch
         */
        q?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The posts, newest first, as `POST /api/imports` accepts them */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['ImportPost'][]
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getOverview: {
    parameters: {
      query?: {
        /** @description Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from` */
        period?: components['schemas']['Period']
        /** @description The first date-time, or the start of this date in your timezone; replaces `period` */
        from?: string
        /** @description The last date-time, or the end of this date in your timezone; now by default, and at most 400 days */
        to?: string
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Ids of connected accounts; without them and `group`, all accounts */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `csv` has a row per item, where an empty cell means unknown */
        format?: 'json' | 'csv'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The figures */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['AnalyticsOverview']
          }
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getTimeline: {
    parameters: {
      query?: {
        /** @description Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from` */
        period?: components['schemas']['Period']
        /** @description The first date-time, or the start of this date in your timezone; replaces `period` */
        from?: string
        /** @description The last date-time, or the end of this date in your timezone; now by default, and at most 400 days */
        to?: string
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Ids of connected accounts; without them and `group`, all accounts */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `csv` has a row per item, where an empty cell means unknown */
        format?: 'json' | 'csv'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The figures */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            /** @description Engagement gained per day */
            data: {
              /**
               * Format: date
               * @description A day in the user's timezone
               */
              _id: string
              totalEngagement: number
              likes: number
              comments: number
              shares: number
              /** @description Number of completed deliveries */
              postCount: number
            }[]
          }
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getFollowerGrowth: {
    parameters: {
      query?: {
        /** @description Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from` */
        period?: components['schemas']['Period']
        /** @description The first date-time, or the start of this date in your timezone; replaces `period` */
        from?: string
        /** @description The last date-time, or the end of this date in your timezone; now by default, and at most 400 days */
        to?: string
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Ids of connected accounts; without them and `group`, all accounts */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `csv` has a row per item, where an empty cell means unknown */
        format?: 'json' | 'csv'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The figures */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            /** @description Days with a known count */
            data: {
              /**
               * Format: date
               * @description A day in the user's timezone
               */
              _id: string
              totalFollowers: number
              breakdown: {
                bluesky?: number
                threads?: number
                instagram?: number
                facebook?: number
                mastodon?: number
                tumblr?: number
              }
              /** @description Followers by account id, where several accounts of a platform are counted */
              accounts?: {
                [key: string]: number
              }
            }[]
          }
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getTopPosts: {
    parameters: {
      query?: {
        /** @description Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from` */
        period?: components['schemas']['Period']
        /** @description The first date-time, or the start of this date in your timezone; replaces `period` */
        from?: string
        /** @description The last date-time, or the end of this date in your timezone; now by default, and at most 400 days */
        to?: string
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Ids of connected accounts; without them and `group`, all accounts */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `csv` has a row per item, where an empty cell means unknown */
        format?: 'json' | 'csv'
        sortBy?:
          'totalEngagement' | 'engagementRate' | 'likes' | 'shares' | 'comments' | 'impressions' | 'reach' | 'saved'
        /** @description Values above 200 are reduced to 200 */
        limit?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The figures */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['TopPost'][]
          }
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getPlatformPerformance: {
    parameters: {
      query?: {
        /** @description Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from` */
        period?: components['schemas']['Period']
        /** @description The first date-time, or the start of this date in your timezone; replaces `period` */
        from?: string
        /** @description The last date-time, or the end of this date in your timezone; now by default, and at most 400 days */
        to?: string
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Ids of connected accounts; without them and `group`, all accounts */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `csv` has a row per item, where an empty cell means unknown */
        format?: 'json' | 'csv'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The figures */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            /** @description Best first; platforms without posts are omitted */
            data: components['schemas']['PlatformPerformance'][]
          }
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getHeatmap: {
    parameters: {
      query?: {
        /** @description Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from` */
        period?: components['schemas']['Period']
        /** @description The first date-time, or the start of this date in your timezone; replaces `period` */
        from?: string
        /** @description The last date-time, or the end of this date in your timezone; now by default, and at most 400 days */
        to?: string
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Ids of connected accounts; without them and `group`, all accounts */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `csv` has a row per item, where an empty cell means unknown */
        format?: 'json' | 'csv'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The figures */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            /** @description Every hour of the week */
            data: {
              /** @description 0 is Sunday */
              day: number
              hour: number
              value: number | null
              postCount: number
              /** @description Marks the three best hours, of those with at least three posts and a value above the average post */
              rank?: number
            }[]
          }
          'text/csv': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshPostMetrics: {
    parameters: {
      query?: {
        /** @description By default every account that has published the post */
        platform?: components['schemas']['Platform']
        /** @description Id of the account, where the post has several on the platform */
        account?: string
      }
      header?: never
      path: {
        /** @description Record id */
        postId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['RefreshedMetrics']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listPlatformConnections: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              bluesky: components['schemas']['PlatformConnection']
              threads: components['schemas']['PlatformConnection']
              instagram: components['schemas']['PlatformConnection']
              facebook: components['schemas']['PlatformConnection']
              mastodon: components['schemas']['PlatformConnection']
              tumblr: components['schemas']['PlatformConnection']
            }
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getPlatformLimits: {
    parameters: {
      query?: {
        /** @description Id of a connected account */
        account?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              bluesky: components['schemas']['PlatformLimits']
              threads: components['schemas']['PlatformLimits']
              instagram: components['schemas']['PlatformLimits']
              facebook: components['schemas']['PlatformLimits']
              mastodon: components['schemas']['PlatformLimits']
              tumblr: components['schemas']['PlatformLimits']
            }
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  connectBluesky: {
    parameters: {
      query?: {
        /** @description `false` adds an account that is not connected yet; by default it takes the place of the default account of the platform */
        replace?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['ConnectBluesky']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PlatformConnection']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `PLATFORM_CREDENTIALS_INVALID` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'PLATFORM_CREDENTIALS_INVALID'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `ACCOUNT_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'ACCOUNT_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      /** @description `ACCOUNT_ALREADY_CONNECTED`, `RECONNECT_REQUIRED` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_ALREADY_CONNECTED' | 'RECONNECT_REQUIRED'
            /** @enum {integer} */
            statusCode?: 409
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  beginMastodonConnection: {
    parameters: {
      query?: {
        /** @description `false` adds an account that is not connected yet; by default it takes the place of the default account of the platform */
        replace?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              authUrl: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `PLATFORM_NOT_SUPPORTED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'PLATFORM_NOT_SUPPORTED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  beginMastodonConnectionOnServer: {
    parameters: {
      query?: {
        /** @description `false` adds an account that is not connected yet; by default it takes the place of the default account of the platform */
        replace?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: {
      content: {
        'application/json': components['schemas']['ConnectMastodon']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              authUrl: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `PLATFORM_NOT_SUPPORTED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'PLATFORM_NOT_SUPPORTED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  beginTumblrConnection: {
    parameters: {
      query?: {
        /** @description `false` adds an account that is not connected yet; by default it takes the place of the default account of the platform */
        replace?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              authUrl: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `PLATFORM_NOT_SUPPORTED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'PLATFORM_NOT_SUPPORTED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  beginThreadsConnection: {
    parameters: {
      query?: {
        /** @description `false` adds an account that is not connected yet; by default it takes the place of the default account of the platform */
        replace?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              url: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `PLATFORM_NOT_SUPPORTED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'PLATFORM_NOT_SUPPORTED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  beginFacebookConnection: {
    parameters: {
      query?: {
        /** @description `false` adds an account that is not connected yet; by default it takes the place of the default account of the platform */
        replace?: 'true' | 'false'
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              url: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `PLATFORM_NOT_SUPPORTED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'PLATFORM_NOT_SUPPORTED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listAccounts: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Account'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  disconnectAccount: {
    parameters: {
      query?: {
        /** @description Id of another account of the platform, to which waiting posts and drafts are moved first. An API key needs `posts:publish`. */
        movePostsTo?: string
      }
      header?: never
      path: {
        /** @description Record id */
        accountId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['DisconnectedAccount']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateAccount: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        accountId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['AccountChange']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Account']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshAccount: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        accountId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Account']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `PLATFORM_NOT_CONNECTED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'PLATFORM_NOT_CONNECTED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['ReconnectRequired']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getAccountOffer: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        offerId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['AccountOffer']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  connectOfferedAccounts: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        offerId: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['ChosenAccounts']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Account'][]
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `ACCOUNT_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'ACCOUNT_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      /** @description `ACCOUNT_ALREADY_CONNECTED`, `RECONNECT_REQUIRED` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_ALREADY_CONNECTED' | 'RECONNECT_REQUIRED'
            /** @enum {integer} */
            statusCode?: 409
          }
        }
      }
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshBlueskyConnection: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PlatformConnection']
          }
        }
      }
      400: components['responses']['PlatformNotConnected']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      409: components['responses']['ReconnectRequired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  disconnectBluesky: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['DisconnectedAccount']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshMastodonConnection: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PlatformConnection']
          }
        }
      }
      400: components['responses']['PlatformNotConnected']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      409: components['responses']['ReconnectRequired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  disconnectMastodon: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['DisconnectedAccount']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshTumblrConnection: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PlatformConnection']
          }
        }
      }
      400: components['responses']['PlatformNotConnected']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      409: components['responses']['ReconnectRequired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  disconnectTumblr: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['DisconnectedAccount']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshThreadsConnection: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PlatformConnection']
          }
        }
      }
      400: components['responses']['PlatformNotConnected']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      409: components['responses']['ReconnectRequired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  disconnectThreads: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['DisconnectedAccount']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  refreshFacebookConnection: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['PlatformConnection']
          }
        }
      }
      400: components['responses']['PlatformNotConnected']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      409: components['responses']['ReconnectRequired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PlatformUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  disconnectFacebook: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['DisconnectedAccount']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listGroups: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Group'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  createGroup: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "name": "Northern brand"
         *     }
         */
        'application/json': components['schemas']['CreateGroup']
      }
    }
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Group']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `GROUP_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'GROUP_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      409: components['responses']['GroupNameTaken']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getGroup: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Group']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deleteGroup: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateGroup: {
    parameters: {
      query?: never
      header?: {
        /** @description The `etag` of the last reading; the request is refused with 412 if the record has changed since */
        'if-match'?: string
      }
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "name": "Southern brand"
         *     }
         */
        'application/json': components['schemas']['UpdateGroup']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Group']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['GroupNameTaken']
      412: components['responses']['PreconditionFailed']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getSlots: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Slots']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  replaceSlots: {
    parameters: {
      query?: never
      header?: {
        /** @description The `etag` of the last reading; the request is refused with 412 if the record has changed since */
        'if-match'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "slots": [
         *         {
         *           "accountId": "66b1f0c2a7e4d5f6a7b8c9d0",
         *           "timezone": "Europe/Berlin",
         *           "times": [
         *             {
         *               "day": "monday",
         *               "time": "09:30"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        'application/json': components['schemas']['ReplaceSlots']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Slots']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      412: components['responses']['PreconditionFailed']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listUpcomingSlots: {
    parameters: {
      query: {
        /** @description Earliest date-time, or the start of this date */
        from: string
        /** @description Latest date-time, or the end of this date, at most 42 days later */
        to: string
        /**
         * @description The IANA timezone of dates; yours by default
         * @example Europe/Berlin
         */
        timezone?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['UpcomingSlot'][]
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listEvents: {
    parameters: {
      query?: {
        /** @description The last sequence that you have; 0 begins with the oldest stored event */
        after?: number
        /**
         * @description Types separated by commas; all by default
         * @example post.published,post.failed
         */
        types?: string
        /** @description Values above 200 are reduced to 200 */
        limit?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['EventList']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      410: components['responses']['EventsExpired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  streamEvents: {
    parameters: {
      query?: {
        /** @description The last sequence that you have; 0 begins with the oldest stored event */
        after?: number
        /**
         * @description Types separated by commas; all by default
         * @example post.published,post.failed
         */
        types?: string
      }
      header?: {
        /** @description Continues after this sequence. Clients send it when they reconnect. */
        'last-event-id'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'text/event-stream': string
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      410: components['responses']['EventsExpired']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listNotifications: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
        /** @description Only unread notifications */
        unread?: boolean
        /** @description One entry per post: its newest notification, with `group`. Covers the newest 2,000 notifications. */
        grouped?: boolean
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['NotificationList']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getNotificationPreferences: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['NotificationPreferences']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  changeNotificationPreferences: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "postCreated": {
         *         "push": false
         *       },
         *       "postFailed": {
         *         "mail": true
         *       }
         *     }
         */
        'application/json': components['schemas']['ChangeNotificationPreferences']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['NotificationPreferences']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  markAllNotificationsRead: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              /** @description Number of notifications that were unread */
              updated: number
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  markNotificationRead: {
    parameters: {
      query?: {
        /** @description Also the others of the same post */
        grouped?: boolean
      }
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              notification: components['schemas']['Notification']
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listWebhooks: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Webhook'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  createWebhook: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "url": "https://example.com/hooks/postonce",
         *       "events": [
         *         "post.published"
         *       ]
         *     }
         */
        'application/json': components['schemas']['CreateWebhook']
      }
    }
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['WebhookWithSecret']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `WEBHOOK_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'WEBHOOK_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getWebhook: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Webhook']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deleteWebhook: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateWebhook: {
    parameters: {
      query?: never
      header?: {
        /** @description The `etag` of the last reading; the request is refused with 412 if the record has changed since */
        'if-match'?: string
      }
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "enabled": true
         *     }
         */
        'application/json': components['schemas']['UpdateWebhook']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          ETag: components['headers']['ETag']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Webhook']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      412: components['responses']['PreconditionFailed']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  rotateWebhookSecret: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['WebhookWithSecret']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listWebhookDeliveries: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
        state?: 'pending' | 'delivered' | 'failed'
      }
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['WebhookDeliveryList']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  redeliverWebhookDelivery: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
        /** @description Record id */
        deliveryId: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['WebhookDelivery']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['WebhookDisabled']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  redeliverWebhookEvents: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "since": "2027-05-01T09:30:00Z"
         *     }
         */
        'application/json': components['schemas']['RedeliverSince']
      }
    }
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['WebhookDisabled']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  sendWebhookTestEvent: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['WebhookDelivery']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['WebhookDisabled']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  requestAvatarUpload: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /**
           * @description Allowed values: image/png, image/jpeg, image/jpg, image/webp
           * @example image/png
           */
          contentType: string
          /** @description Exact size of the upload. Without it, a file above the size limit of its type is deleted after the upload. */
          sizeBytes?: number
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              /** @description Send the image here with PUT within 15 minutes, with exactly this Content-Type and without an Authorization header. */
              uploadUrl: string
              /** @description Pass it to update-avatar after the upload */
              storageUrl: string
              /** @example image/png */
              contentType: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `INVALID_MEDIA_TYPE` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'INVALID_MEDIA_TYPE'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `UPLOAD_QUOTA_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'UPLOAD_QUOTA_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateAvatar: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description The exact `storageUrl` of your upload */
          imageUrl: string
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              imageUrl: string
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  deleteAvatar: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  changeTimezone: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @example Europe/Berlin */
          timezone: string
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  changeHold: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @example 30 */
          holdSeconds: number
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  changeName: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description 2 to 100 characters */
          name: string
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  changePassword: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['ChangePassword']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `PASSWORD_NOT_SUPPORTED`, `INCORRECT_PASSWORD` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'PASSWORD_NOT_SUPPORTED' | 'INCORRECT_PASSWORD'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateBlueskyCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateThreadsCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateInstagramCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateFacebookCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateMastodonCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  generateTumblrCaptions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerateCaptions']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['GeneratedCaptions']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `CAPTION_REFUSED` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'CAPTION_REFUSED'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `INSUFFICIENT_SCOPE`, `CAPTION_LIMIT_REACHED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'INSUFFICIENT_SCOPE' | 'CAPTION_LIMIT_REACHED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['CaptionProviderFailed']
      503: components['responses']['ServiceUnavailable']
    }
  }
  createCheckout: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['HostedPage']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      409: components['responses']['AlreadySubscribed']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      /** @description `PAYMENT_SESSION_FAILED`, `INTERNAL` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'PAYMENT_SESSION_FAILED' | 'INTERNAL'
            /** @enum {integer} */
            statusCode?: 500
          }
        }
      }
      502: components['responses']['PaymentsUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  openBillingPortal: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['HostedPage']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `NO_BILLING_ACCOUNT` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'NO_BILLING_ACCOUNT'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      /** @description `BILLING_PORTAL_FAILED`, `INTERNAL` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'BILLING_PORTAL_FAILED' | 'INTERNAL'
            /** @enum {integer} */
            statusCode?: 500
          }
        }
      }
      502: components['responses']['PaymentsUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  cancelSubscription: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `NO_ACTIVE_SUBSCRIPTION`, `NO_SUBSCRIPTION_ID`, `ALREADY_CANCELLING` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?:
              | 'VALIDATION_FAILED'
              | 'BAD_REQUEST'
              | 'NO_ACTIVE_SUBSCRIPTION'
              | 'NO_SUBSCRIPTION_ID'
              | 'ALREADY_CANCELLING'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      502: components['responses']['PaymentsUnavailable']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getSubscription: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['SubscriptionStatus']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  registerDevice: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description Firebase Cloud Messaging registration token */
          token: string
          /** @enum {string} */
          platform: 'ios' | 'android' | 'web'
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  saveBrowserToken: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** @description Firebase Cloud Messaging registration token */
          token: string
        }
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  removeDevice: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description The token, percent-encoded */
        token: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  exportData: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Content-Disposition': components['headers']['Content-Disposition']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: {
              /** Format: date-time */
              exportedAt: string
              user: components['schemas']['UserRecord']
              /** @description Same format as GET /api/platform/find */
              platforms: {
                [key: string]: unknown
              }
              /** @description Same format as GET /api/platform/accounts */
              accounts: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/groups */
              groups: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/posts */
              posts: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/imports */
              imports: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/imports/{importId}/rows, with the id of the import */
              importRows: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/notifications */
              notifications: {
                [key: string]: unknown
              }[]
              /** @description Same format as in GET /api/notifications/preferences */
              notificationPreferences: {
                [key: string]: unknown
              }
              /** @description Same format as GET /api/events */
              events: {
                [key: string]: unknown
              }[]
              /** @description The files in storage: storageKey, storageUrl, storedAt */
              media: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/auth/devices */
              sessions: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/keys */
              apiKeys: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/webhooks */
              webhooks: {
                [key: string]: unknown
              }[]
              /** @description Same format as GET /api/webhooks/{id}/deliveries */
              webhookDeliveries: {
                [key: string]: unknown
              }[]
              /** @description Devices registered for push messages: platform, createdAt, lastSeen */
              devices: {
                [key: string]: unknown
              }[]
              /** @description Emails of the last days: kind, state, createdAt */
              mails: {
                [key: string]: unknown
              }[]
              /** @description Subscription events of the payment processor in the last 90 days */
              payments: {
                [key: string]: unknown
              }[]
              /** @description Changes to the account by admins */
              changesByAdmins: {
                [key: string]: unknown
              }[]
            }
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  eraseAccount: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: {
      content: {
        'application/json': {
          /** @description Required for accounts with a password */
          password?: string
        }
      }
    }
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          'Set-Cookie': components['headers']['Set-Cookie']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Acknowledgment']
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST`, `INCORRECT_PASSWORD` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST' | 'INCORRECT_PASSWORD'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FRESH_LOGIN_REQUIRED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FRESH_LOGIN_REQUIRED'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listUsers: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
        /** @description Case-insensitive text to search for in names and addresses, or an id */
        q?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['UserRecord'][]
            total?: number
            page?: number
            limit?: number
            totalPages?: number
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateUserPlan: {
    parameters: {
      query: {
        plan: 'free' | 'pro'
      }
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: {
              userId: string
              /** @enum {string} */
              plan: 'free' | 'pro'
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateUserActivity: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['UserActivity']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: {
              _id: string
              email: string
              name: string
              isDisabled: boolean
            }
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      409: components['responses']['OwnAccount']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getUserStatistics: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['UserStatistics']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listAuditEntries: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['AuditEntry'][]
            total: number
            page: number
            limit: number
            totalPages: number
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  readUserPost: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['Post']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  readUserPostTimeline: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['PostTimeline']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listDeadLetters: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['DeadLetter'][]
            total: number
            page: number
            limit: number
            totalPages: number
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  replayDeadLetter: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getUser: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['UserRecord']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  updateUserLimits: {
    parameters: {
      query?: never
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['UserLimits']
      }
    }
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['UserRecord']
          }
        }
      }
      /** @description `VALIDATION_FAILED`, `BAD_REQUEST` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'VALIDATION_FAILED' | 'BAD_REQUEST'
            /** @enum {integer} */
            statusCode?: 400
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      408: components['responses']['RequestTimeout']
      413: components['responses']['PayloadTooLarge']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  listUserPosts: {
    parameters: {
      query?: {
        page?: number
        /** @description Values above 200 are reduced to 200 */
        limit?: number
        /** @description Posts in any of these statuses */
        status?: components['schemas']['PostStatus'][]
        /** @description Posts with a failed delivery that neither the user cancelled nor a submitted duplicate replaced */
        unresolved?: 'true'
        /** @description Platform identifier */
        platform?: components['schemas']['Platform']
        /** @description Posts for any of these accounts, by their ids, also of accounts that are no longer connected */
        accounts?: string[]
        /** @description Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id */
        group?: string[]
        /** @description `web` when the request had an `Origin` */
        source?: components['schemas']['PostSource']
        /** @description Posts that any of these wrote */
        client?: components['schemas']['PostClient'][]
        /** @description Earliest date-time, or the start of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        from?: string
        /** @description Latest date-time, or the end of this date in your timezone. Compares `scheduledAt`, or `createdAt` when the post has no time. */
        to?: string
        /**
         * @description Case-insensitive text to search for in the posts and their threads
         * @example launch
         */
        q?: string
        /** @description `date` is the field that `from` and `to` filter on: `scheduledAt`, or `createdAt` when the post has no time. */
        sortBy?: 'createdAt' | 'scheduledAt' | 'date'
        sortOrder?: 'asc' | 'desc'
      }
      header?: never
      path: {
        /** @description Record id */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['PostList']
          }
        }
      }
      400: components['responses']['ValidationFailed']
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      404: components['responses']['NotFound']
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getSetup: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            /** @description A result is cached for 10 s */
            data: components['schemas']['SetupEntry'][]
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getQueues: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            message: string
            data: components['schemas']['Queues']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getServiceLevels: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['ServiceLevels']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
  getPunctuality: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description OK */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': {
            /** @enum {boolean} */
            success: true
            message: string
            data: components['schemas']['Punctuality']
          }
        }
      }
      401: components['responses']['Unauthorized']
      /** @description `ACCOUNT_DISABLED`, `SESSION_REQUIRED`, `FORBIDDEN` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id']
          RateLimit: components['headers']['RateLimit']
          'RateLimit-Policy': components['headers']['RateLimit-Policy']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            code?: 'ACCOUNT_DISABLED' | 'SESSION_REQUIRED' | 'FORBIDDEN'
            /** @enum {integer} */
            statusCode?: 403
          }
        }
      }
      429: components['responses']['RateLimited']
      500: components['responses']['Internal']
      503: components['responses']['ServiceUnavailable']
    }
  }
}
