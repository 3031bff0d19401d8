"""Addresses of signing in and of the settings."""

from django.urls import path

from timemachine.web.views import answer_cache, keys, members, models, redaction, settings, sign_in

urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-in/<str:secret>/", sign_in.open_link, name="sign_in_link"),
    path("welcome/", sign_in.welcome, name="welcome"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    path("appearance/", settings.appearance, name="appearance"),
    path("project/", settings.choose_project, name="choose_project"),
    path("settings/", settings.settings, name="settings"),
    path("settings/you/", settings.you, name="settings_you"),
    path("settings/password/", settings.password, name="settings_password"),
    path("settings/project/", settings.project, name="settings_project"),
    path("settings/projects/", settings.new_project, name="settings_new_project"),
    path("settings/members/", members.invite, name="settings_invite"),
    path("settings/members/<int:member_id>/role/", members.role, name="settings_role"),
    path("settings/members/<int:member_id>/remove/", members.remove, name="settings_remove"),
    path("settings/members/<int:member_id>/reset/", members.reset, name="settings_reset"),
    path("settings/invitations/<int:link_id>/withdraw/", members.withdraw, name="settings_withdraw"),
    path("settings/answer-cache/switch/", answer_cache.switch, name="switch_answer_cache"),
    path("settings/answer-cache/empty/", answer_cache.empty, name="empty_answer_cache"),
    path("settings/models/", models.models, name="settings_models"),
    path("settings/models/test/", models.test, name="settings_test_model"),
    path("settings/models/keys/<str:provider>/", models.set_key, name="settings_set_provider_key"),
    path(
        "settings/models/keys/<str:provider>/remove/", models.remove_key, name="settings_remove_provider_key"
    ),
    path("settings/models/servers/", models.add_server, name="settings_add_model_server"),
    path(
        "settings/models/servers/<str:name>/remove/",
        models.remove_server,
        name="settings_remove_model_server",
    ),
    path("settings/redaction/", redaction.profiles, name="redaction"),
    path("settings/redaction/new/", redaction.new, name="new_redaction"),
    path("settings/redaction/<str:id>/", redaction.profile, name="redaction_profile"),
    path("settings/redaction/<str:id>/retire/", redaction.retire, name="retire_redaction"),
    path("settings/keys/", keys.make, name="settings_make_key"),
    path("settings/keys/<str:key_id>/revoke/", keys.revoke, name="settings_revoke_key"),
]
