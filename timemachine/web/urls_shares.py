"""Addresses of sharing: what the project sees under /shares/, what visitors open under /share/."""

from django.urls import path, re_path

from timemachine.web.views import shared, shares

urlpatterns = [
    path("shares/", shares.shares, name="shares"),
    path("shares/revoke/", shares.revoke_all, name="revoke_all_shares"),
    path("settings/sharing/", shares.policy, name="share_policy"),
    path("shares/<uuid:link_id>/", shares.link, name="share_link"),
    path("shares/<uuid:link_id>/revoke/", shares.revoke, name="revoke_share"),
    path("sessions/<str:id>/share/", shares.share_session, name="share_form"),
    path("replays/<str:id>/share/", shares.share_replay, name="share_replay_form"),
    path("comparisons/<str:id>/share/", shares.share_comparison, name="share_comparison_form"),
    path("robots.txt", shared.robots, name="robots"),
    path("share/<str:token>", shared.share, name="share"),
    path("share/<str:public_id>/", shared.shared, name="shared"),
    path("share/<str:public_id>/steps/<int:sequence>/", shared.shared_step, name="shared_step"),
    path("share/<str:public_id>/cells/<int:step>/", shared.shared_cell, name="shared_cell"),
    path("share/<str:public_id>/payloads/<str:sha256>/", shared.shared_payload, name="shared_payload"),
    path("share/<str:public_id>/evidence.zip", shared.shared_evidence, name="shared_evidence"),
    re_path(r"^share(?:/.*)?$", shared.nothing, name="shared_nothing"),
]
